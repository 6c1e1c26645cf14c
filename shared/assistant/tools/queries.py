"""Tools that read saved queries and dashboards, and run SQL."""

from typing import Annotated

from msgspec import Meta

from shared.assistant.asker import Asker
from shared.assistant.tools.tool import MAX_ROWS, Arguments, Nothing, Text, Tool, ToolResult
from shared.assistant.values import fields_of, plain
from shared.foundation.clickhouse.published import TABLES
from shared.foundation.core import pages
from shared.reading.dashboards import service as dashboards
from shared.reading.dashboards import tiles
from shared.reading.queries import run, service
from shared.reading.queries.guard.lexer import MAX_LENGTH

_QUERY = ("id", "name", "description", "sql_text")
_TILE = ("id", "title", "query_id", "chart_type")


class ReadDashboard(Arguments):
    """One dashboard."""

    dashboard_id: Text


class RunSql(Arguments):
    """A statement."""

    sql: Annotated[
        str,
        Meta(
            max_length=MAX_LENGTH,
            description="one SELECT in ClickHouse's SQL over the tables of sql_schema",
        ),
    ]


def _saved(asker: Asker, _wanted: Nothing) -> ToolResult:
    with asker.runtime.postgres.transaction() as session:
        rows = [
            {
                **fields_of(query, _QUERY),
                "link": pages.page(asker.org_slug, "sql", query.id),
            }
            for query in service.list_(session, asker.org_id)
        ]
    return ToolResult({"saved_queries": rows[:MAX_ROWS]}, len(rows))


def _dashboards(asker: Asker, _wanted: Nothing) -> ToolResult:
    with asker.runtime.postgres.transaction() as session:
        rows = [
            {
                **fields_of(one.dashboard, ("id", "name", "description")),
                "tiles": one.tile_count,
                "link": pages.page(asker.org_slug, "dashboards", one.dashboard.id),
            }
            for one in dashboards.list_(session, asker.org_id)
        ]
    return ToolResult({"dashboards": rows[:MAX_ROWS]}, len(rows))


def _dashboard(asker: Asker, wanted: ReadDashboard) -> ToolResult:
    with asker.runtime.postgres.transaction() as session:
        one = dashboards.get(session, asker.org_id, wanted.dashboard_id)
        shown = [fields_of(tile, _TILE) for tile in tiles.of_dashboard(session, one)]
        value = {
            **fields_of(one, ("id", "name", "description")),
            "tiles": shown,
            "link": pages.page(asker.org_slug, "dashboards", one.id),
        }
    return ToolResult(value, len(shown))


def _schema(asker: Asker, _wanted: Nothing) -> ToolResult:
    tables = {
        table.name: {column.name: column.kind for column in table.columns} for table in TABLES
    }
    return ToolResult({"schema": asker.queries.schema, "tables": tables}, len(tables))


def _run(asker: Asker, wanted: RunSql) -> ToolResult:
    # The statement comes from a conversation, whose text stays out of the log.
    person = run.QueryOwner(asker.org, asker.name, keeps_text=True)
    found = asker.queries.run(person, wanted.sql, [])
    rows = found.result.rows
    value = {
        "columns": [name for name, _ in found.result.columns],
        "rows": plain(rows[:MAX_ROWS]),
        "row_count": len(rows),
        "more_rows_exist": found.result.truncated,
        "link": pages.sql(asker.org_slug, wanted.sql),
    }
    if len(rows) > MAX_ROWS:
        value["note"] = f"only the first {MAX_ROWS} rows are shown: aggregate, or add a LIMIT"
    return ToolResult(value, len(rows))


TOOLS = (
    Tool("list_saved_queries", "queries:read", "Lists saved queries.", Nothing, _saved),
    Tool("list_dashboards", "dashboards:read", "Lists dashboards.", Nothing, _dashboards),
    Tool(
        "read_dashboard",
        "dashboards:read",
        "Reads one dashboard with its tiles.",
        ReadDashboard,
        _dashboard,
    ),
    Tool(
        "sql_schema",
        "queries:read",
        "Lists the tables and columns that SQL can read.",
        Nothing,
        _schema,
    ),
    Tool(
        "run_sql",
        "queries:run",
        f"Runs one SELECT and returns at most {MAX_ROWS} rows. Prefer aggregates.",
        RunSql,
        _run,
    ),
)
