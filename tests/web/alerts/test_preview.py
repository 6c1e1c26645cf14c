"""POST /alerts/preview."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import QuerySlots
from shared.watch.alerts.evaluation.preview import PLACES
from tests.support.alerts import SPECS
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.routes import require_error
from tests.support.runtime import Org

PATH = "/v1/alerts/preview"
ERRORS = {
    "trigger_kind": "per_event",
    "trigger_spec": {"event_type": "error", "lookback_secs": 60, "auto_resolve": True},
    "eval_interval_secs": 60,
    "from": "2026-11-02T12:00:00Z",
    "to": "2026-11-02T12:06:00+00:00",
}


@pytest.fixture
def writer(key: Callable[..., Headers]) -> Headers:
    return key("alerts:write", "queries:run")


def test_an_answer(client: FlaskClient, runtime: Runtime, org: Org, writer: Headers) -> None:
    kinds = ("tool_use", "error", "error", "tool_use", "tool_use", "error")
    lines = [event("s", f"12:{n:02}:10", kind) for n, kind in enumerate(kinds)]
    store_events(runtime.clickhouse, org.id, [*lines, event("s", "12:05:20", "error")])
    response = client.post(PATH, json=ERRORS, headers=writer)
    assert response.status_code == 200
    moments = [f"2026-11-02T12:{n:02}:00.000000Z" for n in range(7)]
    values = [0, 1, 1, 0, 0, 2]
    assert response.get_json() == {
        "bounds": {"from": moments[0], "to": moments[6], "step_secs": 60},
        "op": ">",
        "bound": 0,
        "points": [
            {"ts": ts, "value": value, "breach": value > 0}
            for ts, value in zip(moments[1:], values, strict=True)
        ],
        "incidents": [
            {"opened_at": moments[2], "resolved_at": moments[4], "breaches": 2},
            {"opened_at": moments[6], "resolved_at": None, "breaches": 1},
        ],
        "replayed": True,
        "reason": None,
        "groups": None,
    }


@pytest.mark.parametrize("kind", SPECS)
def test_every_kind_over_the_last_week(client: FlaskClient, writer: Headers, kind: str) -> None:
    body = {"trigger_kind": kind, "trigger_spec": SPECS[kind]}
    response = client.post(PATH, json=body, headers=writer)
    assert response.status_code == 200
    made = response.get_json()
    begins, ends = (datetime.fromisoformat(made["bounds"][name]) for name in ("from", "to"))
    assert ends - begins == timedelta(days=7)
    assert timedelta() < datetime.now(UTC) - ends < timedelta(minutes=1)
    assert made["bounds"]["step_secs"] == 1800
    assert (made["replayed"], made["reason"] is None) == (kind != "custom_sql",) * 2
    assert (made["groups"] is None) is (kind != "budget")
    if made["groups"] is not None:
        # Those that breach, which nobody does without calls.
        assert (made["groups"], made["points"]) == ([], [])
        return
    assert len(made["points"]) == (336 if made["replayed"] else 1)
    assert made["points"][-1]["ts"] == made["bounds"]["to"]
    breaches = {point["breach"] for point in made["points"]}
    assert breaches == ({None} if kind.startswith("eval") else {False})
    assert (made["op"] is None) is (made["bound"] is None) is False


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"from": "2026-11-02T12:06:00Z"}, "from"),
        ({"from": "2026-10-03T12:05:59Z"}, "from"),
        ({"from": "2026-11-02 12:00"}, "from"),
        ({"to": 5}, "to"),
        ({"eval_interval_secs": 5}, "eval_interval_secs"),
        ({"min_breaches": 0}, "min_breaches"),
        ({"trigger_spec": {"event_type": "error"}}, "trigger_spec.lookback_secs"),
        ({"trigger_kind": "nothing"}, "trigger_kind"),
        ({"trigger_kind": "custom_sql", "trigger_spec": {"sql": "DROP x"}}, "trigger_spec.sql"),
    ],
)
def test_what_is_wrong_is_named(
    client: FlaskClient, writer: Headers, changed: dict[str, Any], field: str
) -> None:
    response = client.post(PATH, json={**ERRORS, **changed}, headers=writer)
    assert list(require_error(response, 422)["fields"]) == [field]


def test_two_at_once(client: FlaskClient, runtime: Runtime, org: Org, writer: Headers) -> None:
    slots = QuerySlots(runtime.redis, runtime.clickhouse, PLACES)
    with slots.hold(org.id), slots.hold(org.id):
        response = client.post(PATH, json=ERRORS, headers=writer)
    require_error(response, 429, "too_many_previews")
    assert int(response.headers["Retry-After"]) > 0
