"""Request and response schemas of the routes of users."""

from typing import Any

from marshmallow import Schema, fields, post_load

from shared.permissions import ALL
from shared.users import Grant
from web.params import Body, Timestamp


def _tokens(description: str) -> fields.List[Any]:
    return fields.List(
        fields.String(metadata={"enum": sorted(ALL)}),
        load_default=list,
        metadata={"default": [], "description": description},
    )


class GrantBody(Body):
    """A member's grant: the set's permissions and those added, without those removed."""

    permission_set = fields.String(
        load_default=None, allow_none=True, metadata={"description": "null: no set"}
    )
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

    email = fields.String(required=True, metadata={"format": "email", "maxLength": 254})
    permission_set = fields.String(
        allow_none=True,
        metadata={"description": "absent: the organization's default set; null: no set"},
    )
    permission_added = _tokens("permissions in addition to the set")
    permission_removed = _tokens("permissions to take from the set and the added ones")
    permissions = fields.List(
        fields.String(metadata={"enum": sorted(ALL)}),
        metadata={"description": "from before sets: adds these, without a set unless one is named"},
    )


class UserRow(Schema):
    """A member of the organization."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)
    permissions = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "the effective ones; a disabled user gets them back when enabled"},
    )
    permission_set = fields.String(required=True, allow_none=True)
    permission_added = fields.List(fields.String(), required=True)
    permission_removed = fields.List(fields.String(), required=True)
    disabled_at = Timestamp(required=True, allow_none=True)
    is_protected = fields.Boolean(
        required=True, metadata={"description": "can be neither changed nor disabled"}
    )
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)


class UserDefaults(Schema):
    """The grant of an invitation that names none."""

    permission_set = fields.String(required=True)
    permissions = fields.List(fields.String(), required=True)


class AccessGranter(Schema):
    """A user who can grant more permissions."""

    email = fields.String(required=True)
