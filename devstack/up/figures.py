"""The service's aggregates of the demonstration: latencies, failures by SQL, means of scores."""

from collections import Counter
from dataclasses import dataclass
from statistics import fmean, quantiles

import msgspec

from devstack.up.api import Api
from devstack.up.expected import expected_scores, tool_failed
from devstack.up.recording import Recording

FAILURES_SQL = (
    "SELECT tool_name, countIf(is_error) AS failed, count() AS calls FROM events"
    " WHERE event_type = 'tool_result' AND ts > now() - INTERVAL 1 DAY AND session_id IN $1"
    " GROUP BY tool_name ORDER BY failed DESC, tool_name"
)

# Name, failed calls, all calls.
Tool = tuple[str, int, int]


@dataclass(frozen=True)
class Figures:
    """Latencies of tool calls in milliseconds. `tools` is None where SQL is not served."""

    calls: int
    failed: int
    p50_ms: float
    p95_ms: float
    tools: list[Tool] | None
    scores: dict[str, float]


def ask_figures(api: Api, recording: Recording, *, sql: bool) -> Figures:
    """Requests the figures of the recorded sessions. `sql` False leaves out the SQL."""
    recorded = {"session_id": ",".join(recording.session_ids)}
    calls = api.get("/v1/events/latency_aggregate", recorded | {"bin_count": "1"})["summary"]
    ended = {"session_id": ",".join(recording.ended_session_ids)}
    stats = api.get("/v1/evaluations/aggregate", ended)["score_stats"]
    rows = api.run_sql(FAILURES_SQL, [recording.session_ids]) if sql else None
    return Figures(
        calls=calls["count"],
        failed=calls["error_count"],
        p50_ms=calls["p50"] or 0.0,
        p95_ms=calls["p95"] or 0.0,
        tools=None if rows is None else msgspec.convert(rows, list[Tool]),
        scores={row["key"]: row["avg"] for row in stats},
    )


def expected_figures(recording: Recording) -> Figures:
    """Computes the same figures from the sent events."""
    results = [event for event in recording.events if event["type"] == "tool_result"]
    calls = Counter(event["tool_name"] for event in results)
    failed = Counter(event["tool_name"] for event in results if tool_failed(event))
    tools = [(name, failed[name], count) for name, count in calls.items()]
    percentiles = quantiles((e["duration_ms"] for e in results), n=100, method="inclusive")
    scores = [
        expected_scores(recording.of_session(session_id))
        for session_id in recording.ended_session_ids
    ]
    return Figures(
        calls=len(results),
        failed=failed.total(),
        p50_ms=percentiles[49],
        p95_ms=percentiles[94],
        tools=sorted(tools, key=lambda tool: (-tool[1], tool[0])),
        scores={name: fmean(row[name] for row in scores) for name in scores[0]},
    )
