"""Request and response schemas of the routes of API keys."""

from typing import Any

from marshmallow import Schema, fields

from shared.keys.rules import DEFAULT_PERMISSIONS
from shared.permissions import FOR_KEYS, readable
from web.params import Body, Timestamp


class KeyBody(Body):
    """A new key."""

    name = fields.String(
        required=True,
        metadata={
            "description": "unique among the organization's live keys",
            "minLength": 1,
            "maxLength": 100,
        },
    )
    key = fields.String(
        required=True,
        metadata={
            "description": "the secret, chosen by the caller; it is never shown again",
            "minLength": 16,
            "maxLength": 256,
        },
    )
    permissions = fields.List(
        fields.String(metadata={"enum": sorted(FOR_KEYS)}),
        metadata={
            "default": list(DEFAULT_PERMISSIONS),
            "description": "the default applies only without a permission set",
        },
    )
    permission_set = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "gives the key the current permissions of this set,"
            " except those that no key can hold"
        },
    )
    expires_at = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={"description": "time when the key stops working; absent: never"},
    )


class KeyChangeBody(Body):
    """The new permissions of a key."""

    permissions = fields.List(fields.String(metadata={"enum": sorted(FOR_KEYS)}), required=True)


class Grants(fields.List[Any]):
    """A stored grant with today's names: `alerts:ack` is now `incidents:ack`."""

    def __init__(self) -> None:
        super().__init__(fields.String(), required=True)

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any] | None:
        return super()._serialize(readable(value), *args, **kwargs)


class KeyRow(Schema):
    """A key without its secret."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)
    permissions = Grants()
    created_at = Timestamp(required=True)
    revoked_at = Timestamp(required=True, allow_none=True)
    expires_at = Timestamp(required=True, allow_none=True)
    is_protected = fields.Boolean(
        required=True, metadata={"description": "can be neither disabled nor regenerated"}
    )


class RegeneratedKey(Schema):
    """A key with its new secret, which is shown only once."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)
    permissions = Grants()
    created_at = Timestamp(required=True)
    key = fields.String(required=True, metadata={"description": "the new secret"})
