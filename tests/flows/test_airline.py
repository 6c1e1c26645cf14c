"""The main job on real input: every event once, and every session evaluated automatically."""

import json
import random
from collections import Counter
from collections.abc import Iterator

import psycopg2
import pytest

from devstack.up.deployment import Deployment
from tests.flows.api import Api, batches, eventually
from tests.flows.checks import (
    EVENTS,
    SESSIONS,
    require_every_event_once,
    require_every_session_evaluated_once,
    require_every_session_once,
    wait_for_results,
)
from tests.support.airline import Airline
from tests.support.deployment import running_deployment
from tests.support.evaluator import Evaluator, reply

pytestmark = [pytest.mark.flow, pytest.mark.timeout(900)]

# The number of sessions in the recording whose root agent ends.
ENDED = 190


@pytest.fixture
def deployment(evaluator: Evaluator) -> Iterator[Deployment]:
    """A deployment whose evaluator wants no idle sessions yet; the test may change that."""
    evaluator.config = None
    with running_deployment(evaluator, EVALUATOR_CONFIG_REFRESH_SECS="1") as running:
        yield running


def test_the_recording_sent_twice(
    deployment: Deployment, api: Api, evaluator: Evaluator, airline: Airline
) -> None:
    recent = airline.recent()
    shuffled = list(recent.lines)
    random.Random(20261120).shuffle(shuffled)
    for batch in [*batches(recent.lines), *batches(shuffled)]:
        api.deliver(batch)

    wait_for_results(api, 180, ENDED)
    # Not earlier: while events are stored slowly, a session may look idle before its end.
    eventually(120, "every event stored", lambda: _stored(api) == EVENTS)
    evaluator.config = reply(200, {"inactivity_timeout_secs": 1})
    wait_for_results(api, 180)

    require_every_event_once(api, recent.lines)
    require_every_session_once(api, recent.lines)
    require_every_session_evaluated_once(api)
    assert _triggers(deployment) == {"agent_end": ENDED, "inactivity": SESSIONS - ENDED}
    # Each session was sent to the evaluator once, with all of its events.
    requests = [json.loads(received.body) for received in evaluator.deliveries]
    assert Counter(request["session_id"] for request in requests).most_common(1)[0][1] == 1
    sent = Counter(json.loads(line)["session_id"] for line in recent.lines)
    assert {request["session_id"]: len(request["events"]) for request in requests} == sent
    for session_id, label in recent.labels.items():
        if label["ended"]:
            [session] = api.get("/sessions", session_id=session_id)["sessions"]
            assert session["ended_at"] is not None


def _stored(api: Api) -> int:
    return sum(row["event_count"] for row in api.rows("sessions", limit=200))


def _triggers(deployment: Deployment) -> dict[str, int]:
    connection = psycopg2.connect(deployment.environ["DATABASE_URL"])
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT trigger, count(*) FROM evaluation_jobs GROUP BY trigger")
            return dict(cursor.fetchall())
    finally:
        connection.close()
