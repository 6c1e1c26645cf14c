"""Request and response schemas of the routes of sign-in."""

from marshmallow import Schema, fields

from web.params import Body


class CodeRequestBody(Body):
    """The address to sign in with."""

    email = fields.String(required=True, metadata={"format": "email"})


class CodeRequested(Schema):
    """The same answer for every address."""

    sent = fields.Boolean(
        required=True,
        metadata={"description": "true: if the address is a member's, a mail was sent"},
    )


class CodeBody(Body):
    """The code from the mail."""

    email = fields.String(required=True, metadata={"format": "email"})
    code = fields.String(required=True, metadata={"description": "six digits", "example": "042195"})


class SignedInUser(Schema):
    """The account."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)


class SignedIn(Schema):
    """The person who signed in. The session itself is in the cookie."""

    user = fields.Nested(SignedInUser, required=True)
    expires_in_secs = fields.Integer(
        required=True, metadata={"description": "end of the session; sign in again after it"}
    )


class SessionMembership(Schema):
    """The person's permissions in one organization."""

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
    """The person for whom requests with this credential act."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)
    is_instance_admin = fields.Boolean(
        required=True, metadata={"description": "holds `orgs:admin` in an organization"}
    )
    memberships = fields.List(fields.Nested(SessionMembership), required=True)


class SignedOut(Schema):
    """The end of a session."""

    ok = fields.Boolean(required=True)
