"""Request and response schemas of the routes of saved queries."""

from marshmallow import Schema

from shared.reading.queries import service
from shared.reading.queries.guard.lexer import MAX_LENGTH
from web import fields
from web.params import Body


class QueryBody(Body):
    """A saved query as a whole."""

    name = fields.name(service.MAX_NAME_LENGTH, "unique in the organization; ")
    description = fields.description(service.MAX_DESCRIPTION_LENGTH)
    sql_text = fields.text(
        "one SELECT over the tables of `/queries/schema`, with `$1`, `$2`, … for parameters",
        minLength=1,
        maxLength=MAX_LENGTH,
        example="SELECT 'example' AS label, count() AS events FROM events",
    )
    params = fields.list_of(
        fields.mapping(),
        "a client's own data about the parameters; stored as it is, at"
        f" most {service.MAX_PARAMS_BYTES} bytes as JSON in ASCII; none when absent",
        optional=True,
        maxItems=service.MAX_PARAMS,
        example=[{"label": "An example of a parameter"}],
    )


class QueryRow(Schema):
    """A saved query."""

    id = fields.uuid()
    name = fields.text()
    description = fields.text()
    sql_text = fields.text()
    params = fields.list_of(fields.mapping())
    created_by = fields.author(null=True)
    created_at = fields.moment()
    updated_at = fields.moment()


class QueryList(Schema):
    """The organization's saved queries, by name."""

    queries = fields.rows(QueryRow)


class DeletedQuery(Schema):
    """A deleted query."""

    ok = fields.flag()
