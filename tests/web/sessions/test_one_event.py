"""GET /v1/sessions/{id}/events/{event_id}."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.runtime import Org

Key = Callable[..., Headers]


def test_it_is_the_row_of_the_list(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    large = event("s", "10:00:01", "tool_result", output="x" * 100_000)
    lines = [event("s", "10:00:00", "agent_start"), large, event("t", "10:00:00")]
    for _ in range(2):
        stored = store_events(runtime.clickhouse, org.id, lines)
    headers = key("events:read")
    listed = client.get("/v1/events?session_id=s&order=asc", headers=headers).get_json()["events"]
    for row, one in zip(listed, stored[:2], strict=True):
        answer = client.get(f"/v1/sessions/s/events/{one.event_id}", headers=headers)
        assert answer.get_json() == {**row, "cost": None}
        assert answer.data.endswith(b'"payload":' + one.line + b',"cost":null}')


@pytest.mark.parametrize(
    "path",
    ["t/events/{id}", "unknown/events/{id}", "s/events/0", "s/events/x", f"s/events/{10**16 - 1}"],
)
def test_an_event_is_found_in_its_session_only(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, path: str
) -> None:
    lines = [event("s", "10:00:00"), event("t", "10:00:00")]
    [first, _] = store_events(runtime.clickhouse, org.id, lines)
    answer = client.get(
        f"/v1/sessions/{path.format(id=first.event_id)}", headers=key("events:read")
    )
    assert answer.status_code == 404
    assert answer.get_json()["code"] == "not_found"
