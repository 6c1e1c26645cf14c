"""Request and response schemas of the routes of sign-in."""

from marshmallow import Schema

from web import fields
from web.params import Body


class CodeRequestBody(Body):
    """The address to sign in with."""

    email = fields.text(format="email")


class CodeRequested(Schema):
    """The same answer for every address."""

    sent = fields.flag("true: if the address is a member's, a mail was sent")


class CodeBody(Body):
    """The code from the mail."""

    email = fields.text(format="email")
    code = fields.text("six digits, or twelve letters after many wrong ones", example="042195")


class SignedInUser(Schema):
    """The account."""

    id = fields.uuid()
    email = fields.text()


class SignedIn(Schema):
    """The person who signed in. The session itself is in the cookie."""

    user = fields.nested(SignedInUser)
    expires_in_secs = fields.integer("end of the session; sign in again after it")


class SessionMembership(Schema):
    """The person's permissions in one organization."""

    org_id = fields.uuid()
    org_slug = fields.text()
    org_name = fields.text()
    permissions = fields.texts("the effective ones, sorted")
    permission_set = fields.text(null=True)
    is_pending = fields.flag("invited: joins with the first request that names the organization")
    feature_flags = fields.texts("none exist")


class SignInSession(Schema):
    """The person for whom requests with this credential act."""

    id = fields.uuid()
    email = fields.text()
    is_instance_admin = fields.flag("holds `orgs:admin` in an organization")
    memberships = fields.rows(SessionMembership)


class OpenSession(Schema):
    """A session of the person. Its id is no secret."""

    id = fields.uuid()
    created_at = fields.moment()
    last_used_at = fields.moment("up to six minutes old")
    expires_at = fields.moment()
    address = fields.text("of the sign-in: IPv4, or the /64 network of IPv6", null=True)
    browser = fields.text("of the sign-in", null=True)
    is_current = fields.flag("the session of this request")


class EndedSessions(Schema):
    """How many sessions have ended."""

    ended = fields.integer()


class SignedOut(Schema):
    """The end of a session."""

    ok = fields.flag()
