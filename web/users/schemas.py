"""Request and response schemas of the routes of users."""

from typing import Any

from marshmallow import Schema, post_load

from shared.access.permissions import ALL
from shared.access.users import Grant
from web import fields
from web.params import Body


def _tokens(description: str) -> fields.Field:
    return fields.list_of(fields.text(enum=sorted(ALL)), description, load_default=list, default=[])


class GrantBody(Body):
    """A member's grant: the set's permissions and those added, without those removed."""

    permission_set = fields.text("null: no set", optional=True)
    permission_added = _tokens("permissions in addition to the set")
    permission_removed = _tokens("permissions to take from the set and the added ones")

    @post_load
    def to_grant(self, data: dict[str, Any], **_: Any) -> Grant:
        """Returns the body as a `Grant`."""
        return Grant(
            permission_set=data["permission_set"],
            added=data["permission_added"],
            removed=data["permission_removed"],
        )


class InvitationBody(Body):
    """An address and a grant; without a grant, the organization's default set."""

    email = fields.text(format="email", maxLength=254)
    permission_set = fields.text(
        "absent: the organization's default set; null: no set", required=False, null=True
    )
    permission_added = _tokens("permissions in addition to the set")
    permission_removed = _tokens("permissions to take from the set and the added ones")
    permissions = fields.list_of(
        fields.text(enum=sorted(ALL)),
        "from before sets: adds these, without a set unless one is named",
        required=False,
    )


class UserRow(Schema):
    """A member of the organization."""

    id = fields.uuid()
    email = fields.text()
    permissions = fields.texts("the effective ones; a disabled user gets them back when enabled")
    permission_set = fields.text(null=True)
    permission_added = fields.texts()
    permission_removed = fields.texts()
    disabled_at = fields.moment(null=True)
    is_protected = fields.flag("can be neither changed nor disabled")
    created_at = fields.moment()
    updated_at = fields.moment()


class UserDefaults(Schema):
    """The grant of an invitation that names none."""

    permission_set = fields.text()
    permissions = fields.texts()


class AccessGranter(Schema):
    """A user who can grant more permissions."""

    email = fields.text()
