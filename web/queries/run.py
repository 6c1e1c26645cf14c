"""The routes that run SQL and list its tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response
from marshmallow import Schema, ValidationError

from shared.foundation.clickhouse.published import TABLES
from shared.foundation.core.errors import Invalid, WatchpostError
from shared.reading.queries import service as queries
from shared.reading.queries.guard.lexer import MAX_LENGTH
from shared.reading.queries.results.reader import MAX_ROWS
from shared.reading.queries.run import QueryOwner, log_refused
from web import fields
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.disconnect import client_watch
from web.params import Body
from web.responses import json_response
from web.state import runtime, state


class RunBody(Body):
    """A statement to run."""

    sql = fields.text(
        "one SELECT over the tables of `/queries/schema`, with `$1`, `$2`, …"
        " for parameters; overrides `query_id`",
        optional=True,
        maxLength=MAX_LENGTH,
        example="SELECT 'example' AS label, count() AS events FROM events",
    )
    query_id = fields.text("a saved query", optional=True)
    params = fields.list_of(
        fields.raw(null=True),
        "the values of `$1`, `$2`, …: strings, numbers, booleans, null, or"
        " arrays of one kind of these",
        optional=True,
    )

    def handle_error(self, error: ValidationError, data: Any, **_kwargs: Any) -> None:
        """Logs the refused run before the error is answered."""
        sent = data if isinstance(data, Mapping) else {}
        reason = Invalid(f"some fields are not valid: {error.messages}")
        log_refused(_asker(), reason, sent.get("sql"), sent.get("params"))


class ResultColumn(Schema):
    """A column of a result."""

    name = fields.text()
    type = fields.text("ClickHouse's name of the type")


class QueryResult(Schema):
    """The result of a statement."""

    columns = fields.rows(ResultColumn)
    rows = fields.list_of(
        fields.list_of(fields.raw(null=True)),
        "a value for each column: integers beyond 2^53 and decimals are strings,"
        " infinite numbers and NaN are null, moments are RFC 3339 in UTC",
        maxItems=MAX_ROWS,
    )
    truncated = fields.flag(f"there are more than {MAX_ROWS} rows")
    elapsed_ms = fields.integer()


class SchemaColumn(Schema):
    """A column that SQL can read."""

    name = fields.text()
    type = fields.text(
        "string, int, float, timestamp, bool, json, array or map, with `?` if it can be null"
    )


class SchemaTable(Schema):
    """A table that SQL can read."""

    name = fields.text()
    columns = fields.rows(SchemaColumn)


class PublishedTables(Schema):
    """The tables that SQL can read."""

    schema = fields.text("may precede a table's name, with a dot")
    tables = fields.rows(SchemaTable)


def add_run(blueprint: Blueprint) -> None:
    """Adds the two routes."""
    view = blueprint.response(200, QueryResult, errors=(429, 504))(run_query)
    view = blueprint.arguments(RunBody)(view)
    view = requires("queries:run")(view)
    blueprint.route("/queries/run", methods=["POST"])(view)

    describe = blueprint.response(200, PublishedTables)(get_schema)
    describe = requires("queries:read")(describe)
    blueprint.route("/queries/schema")(describe)


def run_query(body: dict[str, Any]) -> Response:
    """Run one statement, given or saved, over the organization's events, sessions and evaluations.

    Limits: 10 s (504), 10,000 rows (`truncated`), 64 MiB of result, and four runs of an
    organization at once (429). A statement that the database refuses is answered with 422 and the
    database's message in `detail`. Closing the connection ends the run.
    """
    sql, params = body["sql"], body["params"] or []
    if sql is None:
        try:
            sql = _saved(body["query_id"])
        except WatchpostError as error:
            log_refused(_asker(), error, None, params)
            raise
    return run_statement(sql, params)


def run_statement(sql: str, params: Sequence[object]) -> Response:
    """Runs a statement for the current identity until its client is gone; answers `QueryResult`."""
    run = state().queries.run(_asker(), sql, params, cancelled=client_watch())
    columns = [{"name": name, "type": type_} for name, type_ in run.result.columns]
    return json_response(
        {
            "columns": columns,
            "rows": run.result.rows,
            "truncated": run.result.truncated,
            "elapsed_ms": run.elapsed_ms,
        }
    )


def get_schema() -> Response:
    """List the tables that SQL can read, and their columns."""
    tables = [
        {
            "name": table.name,
            "columns": [{"name": column.name, "type": column.kind} for column in table.columns],
        }
        for table in TABLES
    ]
    return json_response({"schema": state().queries.schema, "tables": tables})


def _asker() -> QueryOwner:
    identity = current_identity()
    return QueryOwner(identity.org_id, identity.name)


def _saved(query_id: str | None) -> str:
    if query_id is None:
        raise Invalid(
            "pass sql or query_id",
            fields={"sql": ["is required without query_id"]},
        )
    with runtime().postgres.transaction() as session:
        return queries.get(session, current_org_id(), query_id).sql_text
