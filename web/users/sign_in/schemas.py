"""Request and response schemas of the routes of sign-in."""

from marshmallow import Schema, fields

from web.params import Body


class CodeRequestBody(Body):
    """Who wants to sign in."""

    email = fields.String(required=True, metadata={"format": "email"})


class CodeRequested(Schema):
    """The same for every address."""

    sent = fields.Boolean(
        required=True, metadata={"description": "true: if the address is a member's, a mail is out"}
    )


class CodeBody(Body):
    """The code that was sent."""

    email = fields.String(required=True, metadata={"format": "email"})
    code = fields.String(required=True, metadata={"description": "six digits", "example": "042195"})


class SignedInUser(Schema):
    """The account."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)


class SignedIn(Schema):
    """Who is signed in now; the session itself is in the cookie."""

    user = fields.Nested(SignedInUser, required=True)
    expires_in_secs = fields.Integer(
        required=True, metadata={"description": "after which one has to sign in again"}
    )


class SessionMembership(Schema):
    """What the person may do in one organization."""

    org_id = fields.UUID(required=True)
    org_slug = fields.String(required=True)
    org_name = fields.String(required=True)
    permissions = fields.List(
        fields.String(), required=True, metadata={"description": "the effective ones, sorted"}
    )
    permission_set = fields.String(required=True, allow_none=True)
    feature_flags = fields.List(
        fields.String(), required=True, metadata={"description": "none exist"}
    )


class SignInSession(Schema):
    """The person whom requests with this credential act as."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)
    is_instance_admin = fields.Boolean(
        required=True, metadata={"description": "holds `orgs:admin` in an organization"}
    )
    memberships = fields.List(fields.Nested(SessionMembership), required=True)


class SignedOut(Schema):
    """Nobody is signed in any more."""

    ok = fields.Boolean(required=True)
