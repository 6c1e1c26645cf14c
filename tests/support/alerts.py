"""Alert rules for other tests."""

from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.app import Headers

SPECS: dict[str, dict[str, Any]] = {
    "metric_threshold": {
        "metric": "error_rate",
        "op": ">",
        "value": 0.2,
        "window_secs": 300,
        "filter": {"environment": "production"},
    },
    "custom_sql": {"sql": "SELECT count() AS metric_value FROM events", "op": "gt", "value": 10},
    "evaluation_score": {
        "score_key": "task_success",
        "op": "<",
        "value": 0.5,
        "window_secs": 3600,
        "min_count": 5,
    },
    "eval_compound": {
        "combinator": {"at_least": 2},
        "conditions": [
            {"score_key": "a", "op": "<", "value": 0.5},
            {"score_key": "b", "op": "lte", "value": 1},
        ],
        "window_secs": 3600,
        "min_count": 1,
    },
    "per_event": {"event_type": "error", "lookback_secs": 300, "message_contains": "refused"},
    "budget": {"amount_usd": 50, "period": "month", "tz": "Europe/Berlin", "group_by": "user_id"},
}


def make_alert(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    """Sends POST /alerts: a rule of the `trigger_kind`, with defaults for all other fields."""
    kind = body.get("trigger_kind", "metric_threshold")
    wanted = {"name": "an alert", "trigger_kind": kind, "trigger_spec": SPECS[kind], **body}
    return client.post("/v1/alerts", json=wanted, headers=headers)
