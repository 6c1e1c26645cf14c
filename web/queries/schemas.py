"""Request and response schemas of the routes of saved queries."""

from marshmallow import Schema, fields

from shared.queries.guard.lexer import MAX_LENGTH
from shared.queries.service import (
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
    MAX_PARAMS,
    MAX_PARAMS_BYTES,
)
from web.params import Body, Timestamp, description_field, name_field


class QueryBody(Body):
    """A saved query as a whole."""

    name = name_field(MAX_NAME_LENGTH, "unique in the organization; ")
    description = description_field(MAX_DESCRIPTION_LENGTH)
    sql_text = fields.String(
        required=True,
        metadata={
            "minLength": 1,
            "maxLength": MAX_LENGTH,
            "description": "one SELECT over the tables of `/queries/schema`, with `$1`, `$2`, …"
            " for parameters",
            "example": "SELECT 'example' AS label, count() AS events FROM events",
        },
    )
    params = fields.List(
        fields.Dict(),
        load_default=None,
        allow_none=True,
        metadata={
            "maxItems": MAX_PARAMS,
            "description": "a client's own data about the parameters; stored as it is, at"
            f" most {MAX_PARAMS_BYTES} bytes as JSON in ASCII; none when absent",
            "example": [{"label": "An example of a parameter"}],
        },
    )


class QueryRow(Schema):
    """A saved query."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)
    description = fields.String(required=True)
    sql_text = fields.String(required=True)
    params = fields.List(fields.Dict(), required=True)
    created_by = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "the address of a person or the name of a key"},
    )
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)


class QueryList(Schema):
    """The organization's saved queries, by name."""

    queries = fields.List(fields.Nested(QueryRow), required=True)


class DeletedQuery(Schema):
    """A deleted query."""

    ok = fields.Boolean(required=True)
