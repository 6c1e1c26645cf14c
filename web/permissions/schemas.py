"""Request and response schemas of the routes of permission sets."""

from marshmallow import Schema

from shared.access.permissions import ALL
from shared.access.permissions.custom_sets.rules import MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH
from web import fields
from web.params import Body


def _permissions(*, required: bool) -> fields.Field:
    return fields.list_of(
        fields.text(enum=sorted(ALL)),
        "the caller has to hold every permission that this adds",
        required=required,
    )


def _description() -> fields.Field:
    return fields.text(required=False, maxLength=MAX_DESCRIPTION_LENGTH)


class NewSetBody(Body):
    """A new permission set."""

    name = fields.text(
        "unique in the organization; surrounding blanks are removed",
        minLength=1,
        maxLength=MAX_NAME_LENGTH,
    )
    description = _description()
    permissions = _permissions(required=True)


class SetBody(Body):
    """The changes to a set. Absent fields stay unchanged, and the name cannot change."""

    description = _description()
    permissions = _permissions(required=False)


class SetRow(Schema):
    """A permission set."""

    name = fields.text()
    description = fields.text()
    permissions = fields.texts()
    is_builtin = fields.flag("can be neither changed nor deleted")
    user_count = fields.integer("active members that have this set")


class DeletedSet(Schema):
    """The result of deleting a set."""

    affected_users = fields.integer("members that have no set any more, disabled ones included")
