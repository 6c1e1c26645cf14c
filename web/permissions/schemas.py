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
        metadata={"description": "what the set gains by this, its editor has to hold"},
    )


def _description() -> fields.String:
    return fields.String(metadata={"maxLength": MAX_DESCRIPTION_LENGTH})


class NewSetBody(Body):
    """A set as its maker wants it."""

    name = fields.String(
        required=True,
        metadata={
            "description": "unique in the organization; blanks around it are cut off",
            "minLength": 1,
            "maxLength": MAX_NAME_LENGTH,
        },
    )
    description = _description()
    permissions = _permissions(required=True)


class SetBody(Body):
    """What to replace; a field that is absent stays as it is, and the name always does."""

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
    """What deleting a set came to."""

    affected_users = fields.Integer(
        required=True,
        metadata={"description": "members that have no set any more, disabled ones included"},
    )
