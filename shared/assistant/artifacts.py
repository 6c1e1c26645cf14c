"""Drafts that a person may approve. They write nothing: approving calls the normal route."""

from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from shared.assistant.asker import Asker
from shared.assistant.tools.tool import Arguments, Text, Tool, ToolResult
from shared.reading.queries.guard.lexer import MAX_LENGTH
from shared.reading.queries.guard.statement import guard
from shared.watch.alerts.groups import FIELDS
from shared.watch.alerts.rules import checked_spec
from shared.watch.alerts.specs import Metric

OPEN_ARTIFACT = "open_artifact"


class DraftQuery(Arguments):
    """A saved query, as POST /queries takes it."""

    name: Text
    sql_text: Annotated[str, Meta(max_length=MAX_LENGTH)]
    description: Annotated[str, Meta(max_length=2000)] = ""


class DraftTile(Arguments):
    """A tile, as POST /dashboards/{id}/tiles takes it."""

    dashboard_id: Text
    query_id: Text
    chart_type: Literal["line", "area", "bar", "stacked_bar", "pie", "kpi", "table"]
    title: Text = ""
    chart_config: dict[str, Any] | None = None


class DraftAlert(Arguments):
    """An alert, as POST /alerts takes it."""

    name: Text
    trigger_kind: Text
    trigger_spec: dict[str, Any]
    severity: Literal["info", "warning", "critical"] = "warning"
    description: Annotated[str, Meta(max_length=2000)] = ""


def _query(asker: Asker, wanted: DraftQuery) -> ToolResult:
    guard(wanted.sql_text, None, schema=asker.queries.schema)
    return _artifact("saved_query", "POST /queries", wanted)


def _tile(_asker: Asker, wanted: DraftTile) -> ToolResult:
    return _artifact("tile", f"POST /dashboards/{wanted.dashboard_id}/tiles", wanted)


def _alert(asker: Asker, wanted: DraftAlert) -> ToolResult:
    checked_spec(wanted.trigger_kind, wanted.trigger_spec, schema=asker.queries.schema)
    return _artifact("alert", "POST /alerts", wanted)


def _artifact(kind: str, route: str, wanted: Arguments) -> ToolResult:
    body = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    body.pop("dashboard_id", None)
    body = {name: value for name, value in body.items() if value is not None}
    return ToolResult({"kind": kind, "route": route, "body": body})


_SHOWN = "The person sees it with a button that approves it. Nothing is stored until then."
_ALERT = (
    f"Drafts an alert. {_SHOWN} trigger_spec of metric_threshold: metric"
    f" ({', '.join(get_args(Metric))}), op, value, window_secs, filter (environment, event_type,"
    " agent_id, model, tool_name, user_id, agent_version, tag, attributes {key: value}), group_by."
    " Of budget: amount_usd, period (day, week, month), tz, levels in percent, forecast, filter,"
    f" group_by. group_by is one of {', '.join(FIELDS)}, attr.<key>: the value or the amount is"
    " each group's."
)
# The permission is that of the route, so a person gets no draft that they cannot approve.
DRAFTS = {
    tool.name: tool
    for tool in (
        Tool("draft_query", "queries:write", f"Drafts a saved query. {_SHOWN}", DraftQuery, _query),
        Tool("draft_tile", "dashboards:write", f"Drafts a tile. {_SHOWN}", DraftTile, _tile),
        Tool("draft_alert", "alerts:write", _ALERT, DraftAlert, _alert),
    )
}
