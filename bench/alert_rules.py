"""Equal numbers of alert rules of all five kinds, over the data of `bench.workload` and `live`."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from clickhouse_driver import Client

from shared.foundation.core.clock import now
from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Postgres
from shared.watch.alerts.evaluation.cadence import next_due
from shared.watch.alerts.models import Alert, AlertState

INTERVAL_SECS = 60

_METRICS = (
    ("event_count", "<", 0),
    ("error_count", ">", 1_000_000),
    ("error_rate", ">", 0.9),
    ("p95_latency_ms", ">", 1_000_000),
    ("p99_latency_ms", ">", 1_000_000),
    ("token_sum", ">", 1e12),
    ("session_count", ">", 1_000_000),
)
_FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"environment": "production"},
    {"agent_id": "main"},
    {"tool_name": "tool_3"},
    {"model": "model-1"},
    {"event_type": "tool_result"},
)
_WINDOWS = (300, 900, 3600)
_STATEMENTS = (
    (
        "SELECT countIf(is_error) / greatest(count(), 1) AS metric_value FROM events"
        " WHERE ts > now() - INTERVAL {minutes} MINUTE"
    ),
    (
        "SELECT quantile(0.95)(duration_ms) AS metric_value FROM events"
        " WHERE ts > now() - INTERVAL {minutes} MINUTE AND event_type = 'tool_result'"
    ),
    (
        "SELECT uniq(session_id) AS metric_value FROM events"
        " WHERE ts > now() - INTERVAL {minutes} MINUTE AND environment = 'production'"
    ),
    (
        "SELECT avg(scores['goal']) AS metric_value FROM evaluations"
        " WHERE completed_at > now() - INTERVAL 6{minutes} MINUTE AND status = 'done'"
    ),
)
_KEYS = ("accuracy", "goal", "helpfulness", "safety", "tone")


def spec_of(kind: str, number: int, statements: int) -> Mapping[str, Any]:
    """Returns the spec of the `number`th rule of a kind. One in twenty rules is breached.

    `statements` is the number of different statements that the SQL rules share.
    """
    breaches = number % 20 == 0
    window = _WINDOWS[number % len(_WINDOWS)]
    if kind == "metric_threshold":
        metric, op, value = _METRICS[number % len(_METRICS)]
        given = {"metric": metric, "window_secs": window, "filter": _FILTERS[number % 6]}
        return {**given, "op": ">=" if breaches else op, "value": 0 if breaches else value}
    if kind == "custom_sql":
        which = number % statements
        sql = _STATEMENTS[which % 4].format(minutes=5 + which // 4)
        return {"sql": sql, "op": ">=", "value": 0 if breaches else 1e12}
    if kind == "evaluation_score":
        bound = 1 if breaches else -1
        return {"score_key": _KEYS[number % 5], "op": "<", "value": bound, "window_secs": 86_400}
    if kind == "eval_compound":
        bound = 1 if breaches else -1
        conditions = [
            {"score_key": key, "op": "<", "value": bound} for key in (_KEYS[number % 5], "goal")
        ]
        return {"combinator": "all", "conditions": conditions, "window_secs": 86_400}
    given = {"event_type": "error", "lookback_secs": 300, "error_type": f"Error{number % 7}"}
    return given if breaches else {**given, "message_contains": f"nothing like {number}"}


KINDS = ("metric_threshold", "custom_sql", "evaluation_score", "eval_compound", "per_event")


# Inserts {an_hour} evaluations per organization for each of the last {hours} hours.
_EVALUATIONS = """
INSERT INTO evaluations (
    org_id, evaluation_id, session_id, agent_id, environment, status, scores, attempt_count,
    duration_ms, completed_at
)
SELECT
    {orgs}[1 + number % {count}],
    toString(generateUUIDv4()),
    concat('scored_', toString(number)),
    'main',
    'production',
    'done',
    CAST(({keys}, arrayMap(key -> (cityHash64(number, key) % 1000) / 1000, {keys})),
         'Map(LowCardinality(String), Float64)'),
    1,
    900,
    now64(6) - toIntervalSecond(intDiv(number, {count}) * 3600 / {an_hour})
FROM numbers({count} * {hours} * {an_hour})
"""


def insert_evaluations(clickhouse: Client, org_ids: Sequence[str]) -> None:
    """Inserts the data of rules over scores: 20 evaluations per hour and organization for a day."""
    values = {"orgs": list(org_ids), "count": len(org_ids), "keys": list(_KEYS)}
    clickhouse.execute(_EVALUATIONS.format(**values, hours=24, an_hour=20))


def insert(postgres: Postgres, org_ids: Sequence[str], rules: int, statements: int) -> None:
    """Inserts the rules, each due at the next moment of its organization's grid."""
    a_kind = rules // len(org_ids) // len(KINDS)
    for org_id in map(uuid.UUID, org_ids):
        with postgres.transaction() as session:
            for kind in KINDS:
                alerts = [_alert(org_id, kind, number, statements) for number in range(a_kind)]
                session.add_all(alerts)
                session.flush()
                due_at = next_due(org_id, INTERVAL_SECS, now())
                session.add_all(_state(alert, due_at) for alert in alerts)


def due_between(org_id: str, since: datetime, to: datetime) -> int:
    """Returns how often each rule of an organization is due in [since, to)."""
    interval_us = INTERVAL_SECS * 1_000_000
    phase_us = uuid.UUID(org_id).int % interval_us
    edges = (int(moment.astimezone(UTC).timestamp() * 1e6) for moment in (since, to))
    before, until = (-((phase_us - edge) // interval_us) for edge in edges)
    return until - before


def _alert(org_id: uuid.UUID, kind: str, number: int, statements: int) -> Alert:
    return Alert(
        id=new_id(),
        org_id=org_id,
        name=f"{kind} {number}",
        enabled=True,
        trigger_kind=kind,
        trigger_spec=spec_of(kind, number, statements),
        severity="warning",
        min_breaches=1,
        eval_window=1,
        eval_interval_secs=INTERVAL_SECS,
        channels=[{"kind": "dashboard"}],
        created_by="bench",
    )


def _state(alert: Alert, due_at: datetime) -> AlertState:
    return AlertState(
        alert_id=alert.id,
        org_id=alert.org_id,
        is_sql=alert.trigger_kind == "custom_sql",
        due_at=due_at,
    )
