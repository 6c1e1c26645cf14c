"""Request and response schemas of the routes of API keys."""

from typing import Any

from marshmallow import Schema
from marshmallow.fields import List, String

from shared.access.keys.rules import DEFAULT_PERMISSIONS
from shared.access.permissions import FOR_KEYS, readable
from web import fields
from web.params import Body


class KeyBody(Body):
    """A new key."""

    name = fields.text("unique among the organization's live keys", minLength=1, maxLength=100)
    key = fields.text(
        "the secret, chosen by the caller; it is never shown again", minLength=16, maxLength=256
    )
    permissions = fields.list_of(
        fields.text(enum=sorted(FOR_KEYS)),
        "the default applies only without a permission set",
        required=False,
        default=list(DEFAULT_PERMISSIONS),
    )
    permission_set = fields.text(
        "gives the key the current permissions of this set, except those that no key can hold",
        optional=True,
    )
    expires_at = fields.moment("time when the key stops working; absent: never", optional=True)


class KeyChangeBody(Body):
    """The new permissions of a key."""

    permissions = fields.list_of(fields.text(enum=sorted(FOR_KEYS)))


class Grants(List[Any]):
    """A stored grant with today's names: `alerts:ack` is now `incidents:ack`."""

    def __init__(self) -> None:
        super().__init__(String(), required=True)

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any] | None:
        return super()._serialize(readable(value), *args, **kwargs)


class KeyRow(Schema):
    """A key without its secret."""

    id = fields.uuid()
    name = fields.text()
    permissions = Grants()
    created_at = fields.moment()
    revoked_at = fields.moment(null=True)
    expires_at = fields.moment(null=True)
    last_used_at = fields.moment("to the minute; null: not used yet", null=True)
    is_protected = fields.flag("can be neither disabled nor regenerated")


class RegeneratedKey(Schema):
    """A key with its new secret, which is shown only once."""

    id = fields.uuid()
    name = fields.text()
    permissions = Grants()
    created_at = fields.moment()
    key = fields.text("the new secret")
