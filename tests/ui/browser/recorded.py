"""An organization with events of the recording, hostile names, and scores."""

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.foundation.core.clock import to_us
from shared.reading.evaluations.records import Evaluation
from shared.reading.evaluations.store import insert
from tests.flows.api import Api, batches, eventually
from tests.support.airline import Airline
from tests.support.app import new_key
from tests.support.evaluations import evaluation
from tests.support.people import add_member, signed_in
from tests.support.runtime import Org, make_org
from tests.ui.browser.site import Site
from tests.ui.browser.views import HOSTILE, HOSTILE_ID, HOSTILE_PLACE

BEGUN = datetime(2026, 11, 3, 12, tzinfo=UTC)
# In the future, so that these results are newer than those of the deployment's evaluator.
SCORED = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=2)
SCORES = 40


@dataclass(frozen=True)
class Recorded:
    """An organization with 40 sessions of the recording, a hostile one, and scores."""

    org: Org
    token: str
    api: Api
    url: str


def hostile_events() -> list[dict[str, Any]]:
    """Returns a call that failed; every name in it is hostile."""

    def event(seconds: int, kind: str, **fields: object) -> dict[str, Any]:
        moment = BEGUN + timedelta(seconds=seconds)
        return {
            "session_id": HOSTILE_ID,
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "type": kind,
            "agent_id": HOSTILE_ID,
            "environment": HOSTILE_PLACE,
            **fields,
        }

    call = {"tool_name": HOSTILE, "tool_call_id": "c1", "model": HOSTILE, "hook_name": HOSTILE}
    return [
        event(0, "agent_start", goal="none"),
        event(1, "tool_use", **call, trigger_event=HOSTILE, input={"text": HOSTILE}),
        event(
            3,
            "tool_result",
            **call,
            trigger_event=HOSTILE,
            error=f"<{HOSTILE}>",
            error_type=HOSTILE,
        ),
    ]


def odd_events() -> list[dict[str, Any]]:
    """Returns calls that lack keys, share them, have no end, or end before they start."""
    chance = random.Random(7)
    return [
        {
            "session_id": f"odd-{chance.randrange(6)}",
            "timestamp": f"2026-10-01T00:0{chance.randrange(10)}:{chance.randrange(60):02}Z",
            "type": kind,
            "agent_id": f"odd {chance.randrange(2)}",
            "environment": chance.choice(("canary", "production")),
            "n": number,
            **({"tool_name": chance.choice("ab")} if chance.random() < 0.8 else {}),
            **({"tool_call_id": f"c{chance.randrange(12)}"} if chance.random() < 0.7 else {}),
            **({"error": "no"} if kind == "tool_result" and chance.random() < 0.3 else {}),
        }
        for number in range(300)
        for kind in [chance.choice(("tool_use", "tool_result"))]
    ]


def record(site: Site, airline: Airline) -> Recorded:
    """Creates the organization, and returns when all of it can be read."""
    org = make_org(site.runtime)
    user_id = add_member(site.runtime, org)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    key = new_key(site.runtime, org)["Authorization"].removeprefix("Bearer ")
    api = Api(site.api.port, key)
    lines = [line for line in airline.lines if b'"session_id":"airline-00' in line]
    for batch in batches(lines, 1500):
        api.deliver(batch)
    made = hostile_events() + odd_events()
    api.deliver([json.dumps(event).encode() for event in made])
    results = [scores(org, index) for index in range(SCORES)]
    insert(site.runtime.clickhouse, [*results, of_a_session_without_events(org)])
    events = len(lines) + len(made)
    eventually(60, "the recording is stored", lambda: total(api) == events)
    return Recorded(org, token, api, f"{site.url}/o/{org.slug}")


def scores(org: Org, index: int) -> Evaluation:
    """Returns the result of a minute; some failed, some are of a hostile agent."""
    return evaluation(
        str(org.uuid),
        f"airline-00{index % 10}-t{index // 10}",
        to_us(SCORED + timedelta(minutes=index)),
        agent_id=HOSTILE_ID if index % 4 == 0 else "airline-support",
        environment="production" if index % 2 else HOSTILE_PLACE,
        status="done" if index % 5 else "error",
        scores={"reward": index / SCORES, HOSTILE: -index / 3} if index % 5 else None,
    )


def of_a_session_without_events(org: Org) -> Evaluation:
    """Returns a result that was completed while the sessions of the recording took place."""
    completed = to_us(datetime(2026, 11, 1, 12, tzinfo=UTC))
    where = {"agent_id": "airline-support", "environment": "production"}
    return evaluation(str(org.uuid), "gone", completed, **where, scores={"reward": 0.25})


def total(api: Api) -> int:
    """Returns how many events are stored."""
    body = json.dumps({"sql": "SELECT count() FROM events"}).encode()
    status, answer = api.request("POST", "/queries/run", body, Content_Type="application/json")
    assert status == 200, answer
    count: int = json.loads(answer)["rows"][0][0]
    return count
