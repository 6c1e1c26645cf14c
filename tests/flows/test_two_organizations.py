"""Two organizations on one deployment: each sees only its data, and survives the other's purge.

Both get the whole recording, so every session id and every event exists twice.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import pytest

from devstack.up.deployment import Deployment
from shared.foundation.deployment.runtime import Runtime
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
from tests.support.evaluator import Evaluator
from tests.support.runtime import Org, connected, settings_for
from tests.support.tenants import footprint

pytestmark = [pytest.mark.flow, pytest.mark.timeout(900)]

# The command that `bin/orgctl` runs in a finished environment.
COMMAND = str(Path(sys.executable).parent / "service-orgctl")
PERMISSIONS = ["events:add", "events:read", "evaluations:read", "keys:read"]

_LAST_USE = re.compile(rb'"last_used_at":(?:null|"[^"]*"),')

Orgctl = Callable[..., Any]


@pytest.fixture
def orgctl(deployment: Deployment) -> Orgctl:
    """Runs a command as the deployment's operator and returns its JSON."""

    def run(*words: str) -> Any:
        done = subprocess.run(
            [COMMAND, *words, "--json"],
            env={"PATH": os.environ["PATH"], **deployment.variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def runtime(deployment: Deployment) -> Iterator[Runtime]:
    """Connections to the deployment's stores, for direct checks."""
    with connected(settings_for(deployment.stack.urls)) as made:
        yield made


def new_key(api: Api, slug: str) -> Api:
    """Returns a client of an organization, with a new key that the admin key created."""
    secret = secrets.token_hex(20)
    body = {"name": "own", "key": secret, "permissions": PERMISSIONS}
    status, answer = api.request(
        "POST",
        "/keys",
        json.dumps(body).encode(),
        X_Service_Org=slug,
        Content_Type="application/json",
    )
    assert status == 201, answer
    return Api(api.port, secret)


def everything(api: Api, session_ids: Sequence[str]) -> list[bytes]:
    """Returns the bytes of every page of every list, and of every export.

    The uses of keys are left out, because the minute of the last one follows the clock.
    """
    bodies = []
    for path, limit in (("/events", 1000), ("/sessions", 200), ("/evaluations", 200)):
        query: dict[str, object] = {"limit": limit}
        while True:
            status, body = api.request("GET", f"{path}?{urlencode(query)}")
            assert status == 200, body
            bodies.append(body)
            query["cursor"] = json.loads(body)["next_cursor"]
            if query["cursor"] is None:
                break
    for path in [f"/sessions/{quote(one, safe='')}/export" for one in session_ids] + ["/keys"]:
        status, body = api.request("GET", path)
        assert status == 200, body
        bodies.append(_LAST_USE.sub(b"", body) if path == "/keys" else body)
    return bodies


def resend_until_refused(api: Api, lines: Sequence[bytes], started: threading.Event) -> int:
    """Sends the same events over and over, as a collector would. Returns the final status."""
    for batch in cycle(batches(lines)):
        status, _ = api.request(
            "POST", "/events", b"\n".join(batch), Content_Type="application/x-ndjson"
        )
        if status not in (202, 503):
            return status
        started.set()
    raise AssertionError


def test_one_of_two_organizations_is_purged(
    deployment: Deployment,
    api: Api,
    evaluator: Evaluator,
    airline: Airline,
    orgctl: Orgctl,
    runtime: Runtime,
) -> None:
    lines = airline.recent().lines
    session_ids = sorted({json.loads(line)["session_id"] for line in lines})
    made = orgctl("org", "create", "second", "--name", "The second")
    org = Org(UUID(made["id"]), made["slug"])
    orgctl("member", "add", "second", "ada@example.com", "--set", "admin")
    second = new_key(api, "second")
    for batch in batches(lines):
        api.deliver(batch)
        second.deliver(batch)

    for one in (api, second):
        wait_for_results(one, 120)
        require_every_event_once(one, lines)
        require_every_session_once(one, lines)
        require_every_session_evaluated_once(one)
    assert len(evaluator.deliveries) == 2 * SESSIONS

    kept = everything(api, session_ids)
    left = footprint(runtime, org)
    resending = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        collector = pool.submit(resend_until_refused, second, lines, resending)
        assert resending.wait(30)
        orgctl("org", "delete", "second")
        assert second.request("GET", "/events")[0] == 401
        purged = orgctl("org", "purge", "second", "--yes", "second")
        assert collector.result(30) == 401

    # The events that were sent again are still the same events of the same sessions. Rows of a
    # batch that was stored after its table was emptied are removed, and counted, once more.
    tables = {"agent_sessions", "evaluations", "own_evaluations", "events"}
    assert purged["clickhouse"].keys() == tables
    assert purged["clickhouse"]["agent_sessions"] >= SESSIONS
    assert purged["clickhouse"]["evaluations"] == SESSIONS
    assert purged["clickhouse"]["events"] >= EVENTS
    counted = {table: len(rows) for table, rows in left.postgres.items()}
    # Its deletion is in the audit log too.
    counted["audit_log"] += 1
    assert purged["postgres"] == counted | {"users": 1, "sign_in_codes": 0, "sign_in_guesses": 0}
    assert counted["evaluation_jobs"] == counted["watched_sessions"] == SESSIONS
    # A request in progress may have left a batch. The next drain drops it, and a sweep the keys.
    eventually(60, "nothing left", lambda: footprint(runtime, org).is_empty)
    assert everything(api, session_ids) == kept
    assert second.request("GET", "/events")[0] == 401
    again = orgctl("org", "create", "second")
    assert again["id"] != org.id
    assert new_key(api, "second").get("/sessions") == {"sessions": [], "next_cursor": None}
