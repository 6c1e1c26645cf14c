"""The dashboard of the demonstration: "Agents", over saved queries that fit any agents."""

from collections import Counter
from dataclasses import dataclass

from devstack.up.api import Api, Row
from devstack.up.expected import tool_failed
from devstack.up.figures import Tool
from devstack.up.recording import Recording

NAME = "Agents"
_EVENTS_A_PAGE = 1000
# In rows of the grid.
_HEIGHT = 5
_RANGE = [{"name": "from", "value": ""}, {"name": "to", "value": ""}]
_FAILURES = "Failures by tool"


@dataclass(frozen=True)
class _Tile:
    """A saved query with its chart, at a place on the grid."""

    title: str
    sql: str
    chart_type: str
    chart: Row
    x: int
    y: int


_TILES = (
    _Tile(
        "Sessions by agent",
        "SELECT toStartOfInterval(started_at, INTERVAL 30 MINUTE) AS at, agent_id,"
        " count() AS sessions\nFROM agent_sessions\nWHERE started_at >= $1 AND started_at < $2\n"
        "GROUP BY at, agent_id\nORDER BY at, agent_id",
        "stacked_bar",
        {"x": "at", "y": ["sessions"], "series": "agent_id"},
        x=0,
        y=0,
    ),
    _Tile(
        "Success by agent (%)",
        "SELECT agent_id, round(100 * countIf(outcome IN ('success', 'completed', 'ok', 'done'))"
        " / count(), 1) AS percent\nFROM events\n"
        "WHERE event_type = 'agent_end' AND ts >= $1 AND ts < $2\n"
        "GROUP BY agent_id\nORDER BY percent, agent_id",
        "bar",
        {"x": "agent_id", "y": ["percent"], "series": ""},
        x=6,
        y=0,
    ),
    _Tile(
        _FAILURES,
        "SELECT tool_name, countIf(is_error) AS failed, count() - failed AS succeeded\n"
        "FROM events\nWHERE event_type = 'tool_result' AND ts >= $1 AND ts < $2\n"
        "GROUP BY tool_name\nORDER BY failed DESC, tool_name",
        "stacked_bar",
        {"x": "tool_name", "y": ["failed", "succeeded"], "series": ""},
        x=0,
        y=_HEIGHT,
    ),
    _Tile(
        "Slowest tools (p95, ms)",
        "SELECT tool_name, round(quantile(0.95)(duration_ms)) AS p95_ms\nFROM events\n"
        "WHERE event_type = 'tool_result' AND duration_ms > 0 AND ts >= $1 AND ts < $2\n"
        "GROUP BY tool_name\nORDER BY p95_ms DESC, tool_name\nLIMIT 12",
        "bar",
        {"x": "tool_name", "y": ["p95_ms"], "series": ""},
        x=6,
        y=_HEIGHT,
    ),
    _Tile(
        "Tokens by model",
        "SELECT model, sum(input_tokens) AS input, sum(output_tokens) AS output\nFROM events\n"
        "WHERE event_type = 'model_response' AND ts >= $1 AND ts < $2\n"
        "GROUP BY model\nORDER BY input DESC, model",
        "stacked_bar",
        {"x": "model", "y": ["input", "output"], "series": ""},
        x=0,
        y=2 * _HEIGHT,
    ),
    _Tile(
        "Scores by agent",
        "SELECT agent_id, score, round(avg(value), 3) AS mean, count() AS sessions\n"
        "FROM evaluations\nARRAY JOIN mapKeys(scores) AS score, mapValues(scores) AS value\n"
        "WHERE status = 'done' AND completed_at >= $1 AND completed_at < $2\n"
        "GROUP BY agent_id, score\nORDER BY mean, agent_id, score",
        "table",
        {},
        x=6,
        y=2 * _HEIGHT,
    ),
)


@dataclass(frozen=True)
class Board:
    """The dashboard, and its tile of failures since the recording's first event.

    `failures` is the answer of the tile; `results` are the tool results of that time as the service
    lists them.
    """

    tiles: int
    failures: list[Tool]
    results: tuple[Row, ...]

    @property
    def expected_failures(self) -> list[Tool]:
        """The rows of the tile, counted from the events."""
        calls = Counter(str(one["tool_name"]) for one in self.results)
        failed = Counter(str(one["tool_name"]) for one in self.results if tool_failed(one))
        rows = [(tool, failed[tool], count - failed[tool]) for tool, count in calls.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))


def show_dashboard(api: Api, recording: Recording) -> Board:
    """Makes the dashboard once, and reads one of its tiles. The events have to be stored."""
    board_id = _named(api.get("/v1/dashboards", {})["dashboards"], NAME) or _make(api)
    tiles: list[Row] = api.get(f"/v1/dashboards/{board_id}/tiles", {})["tiles"]
    since = recording.events[0]["timestamp"]
    # People may have changed the dashboard since an earlier demonstration.
    shown = next((one for one in tiles if one["title"] == _FAILURES), None)
    if shown is None:
        return Board(len(tiles), [], ())
    path = f"/v1/dashboards/{board_id}/tiles/{shown['id']}/run"
    rows = api.send("POST", path, {"from": since})["rows"]
    query = {"event_type": "tool_result", "ts_from": since, "limit": str(_EVENTS_A_PAGE)}
    results = tuple(row["payload"] for row in api.pages("events", query))
    return Board(len(tiles), [(name, failed, rest) for name, failed, rest in rows], results)


def _make(api: Api) -> str:
    made = api.send(
        "POST",
        "/v1/dashboards",
        {"name": NAME, "description": "Sessions, scores, failures, latency and tokens."},
    )
    saved = api.get("/v1/queries", {})["queries"]
    for tile in _TILES:
        query_id = _named(saved, tile.title)
        if query_id is None:
            query = {"name": tile.title, "sql_text": tile.sql, "params": _RANGE}
            query_id = str(api.send("POST", "/v1/queries", query)["id"])
        place = {"pos_x": tile.x, "pos_y": tile.y, "pos_w": 6, "pos_h": _HEIGHT}
        body = {"query_id": query_id, "title": tile.title, "chart_type": tile.chart_type, **place}
        path = f"/v1/dashboards/{made['id']}/tiles"
        api.send("POST", path, {**body, "chart_config": tile.chart})
    return str(made["id"])


def _named(rows: list[Row], name: str) -> str | None:
    return next((str(row["id"]) for row in rows if row["name"] == name), None)
