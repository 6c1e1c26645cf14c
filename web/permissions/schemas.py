"""Request and response schemas of the routes of permission sets."""

from typing import Any

from marshmallow import Schema, fields

from shared.permissions import ALL
from shared.permissions.custom_sets.rules import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH
from web.params import Body


def _permissions(*, required: bool) -> fields.List[Any]:
    return fields.List(
        fields.String(metadata={"enum": sorted(ALL)}),
        required=required,
        metadata={"description": "the caller has to hold every permission that this adds"},
    )


def _description() -> fields.String:
    return fields.String(metadata={"maxLength": MAX_DESCRIPTION_LENGTH})


class NewSetBody(Body):
    """A new permission set."""

    name = fields.String(
        required=True,
        metadata={
            "description": "unique in the organization; surrounding blanks are removed",
            "minLength": 1,
            "maxLength": MAX_NAME_LENGTH,
        },
    )
    description = _description()
    permissions = _permissions(required=True)


class SetBody(Body):
    """The changes to a set. Absent fields stay unchanged, and the name cannot change."""

    description = _description()
    permissions = _permissions(required=False)


class SetRow(Schema):
    """A permission set."""

    name = fields.String(required=True)
    description = fields.String(required=True)
    permissions = fields.List(fields.String(), required=True)
    is_builtin = fields.Boolean(
        required=True, metadata={"description": "can be neither changed nor deleted"}
    )
    user_count = fields.Integer(
        required=True, metadata={"description": "active members that have this set"}
    )


class DeletedSet(Schema):
    """The result of deleting a set."""

    affected_users = fields.Integer(
        required=True,
        metadata={"description": "members that have no set any more, disabled ones included"},
    )
