"""A deletion whose worker is killed twice, while events of deleted sessions and others come in."""

import json
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from shared.intake.otlp.assignment import waiting
from tests.flows.api import Api, batches, eventually
from tests.support.airline import Airline
from tests.support.databases import environment
from tests.support.otlp import make_span, text_attribute, traces
from tests.support.places import places
from tests.support.processes import running, wait_until
from tests.support.runtime import Org, connected, migrated, settings_for
from tests.support.server import running_server
from tests.support.stack import stack_directory

pytestmark = pytest.mark.flow

JSON = "application/json"
ADMIN_KEY = "admin-key-of-a-deletion"
CONVERSATION = "a conversation that is deleted"
ROOT, CHILDREN, TRACE = 1, (2, 3, 4), "01" * 16


@dataclass
class Sender:
    """Sends lines batch after batch, and then some of them again and again, until it is stopped."""

    api: Api
    lines: list[bytes]
    sent_once: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Returns after the batch during which it is stopped."""
        while not self.stopped.is_set():
            for batch in batches(self.lines, 200):
                self.api.deliver(batch)
                self.stopped.wait(0.1)
            self.sent_once.set()


@pytest.fixture
def own() -> Iterator[DevStack]:
    """Stores that only this test uses, with migrated databases."""
    with stack_directory() as directory, DevStack(directory) as stack:
        migrated(settings_for(stack.urls))
        yield stack


def send(api: Api, path: str, body: bytes, method: str = "POST", media: str = JSON) -> Any:
    status, answer = api.request(method, path, body, Content_Type=media)
    assert status in (200, 202), answer
    return json.loads(answer) if media == JSON else answer


def send_spans(api: Api, *numbers: int, session_id: str | None = None) -> None:
    """Sends spans below the root of a trace, or the root, which names the session."""
    kind = text_attribute("gen_ai.operation.name", "chat")
    if session_id is None:
        changes: dict[str, Any] = {"attributes": [kind], "parent_span_id": ROOT.to_bytes(8, "big")}
    else:
        changes = {"attributes": [kind, text_attribute("session.id", session_id)]}
    request = traces(*(make_span(number, **changes) for number in numbers))
    send(api, "/traces", request.SerializeToString(), media="application/x-protobuf")


def deletion(runtime: Runtime) -> Any:
    """Returns the row of the only deletion."""
    with runtime.postgres.transaction() as session:
        return session.execute(text("SELECT * FROM deletions")).one()


def kill_a_worker(runtime: Runtime, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Lets a process work on the deletion until it kills itself, and another one have it then."""
    with running("tests.support.killed_deletion", settings=runtime.settings) as process:
        meanwhile()
        assert process.wait(60) == -signal.SIGKILL
    # Tables are left whose rows no statement has reached.
    assert deletion(runtime).state == "running"
    with runtime.postgres.transaction() as session:
        session.execute(text("UPDATE deletions SET lease_expires_at = now()"))


def delete_and_kill(runtime: Runtime, api: Api, session_ids: list[str]) -> str:
    """Deletes sessions while the worker is killed twice; returns the id of the deletion.

    Records of the conversation wait for its name when the deletion begins. It comes after the
    fence.
    """

    def name_the_conversation() -> None:
        wait_until(lambda: deletion(runtime).fenced_at is not None)
        assert waiting.next_moment(runtime.redis) is not None
        send_spans(api, ROOT, session_id=CONVERSATION)

    send(api, "/settings/otel.session_wait_secs", b"60", "PUT")
    send_spans(api, *CHILDREN)
    wait_until(lambda: waiting.next_moment(runtime.redis) is not None)
    made = send(api, "/deletions", json.dumps({"session_ids": session_ids}).encode())
    kill_a_worker(runtime, name_the_conversation)
    kill_a_worker(runtime)
    with running("workers.main", "background", settings=runtime.settings):
        wait_until(lambda: deletion(runtime).state == "rewritten")
    return str(made["id"])


def test_nothing_of_deleted_sessions_is_left_and_nothing_else_is_gone(
    own: DevStack, airline: Airline, tmp_path: Path
) -> None:
    lines = list(airline.recent().lines)
    random.Random(5).shuffle(lines)
    whole = Counter(json.loads(line)["session_id"] for line in lines)
    doomed = sorted(whole)[::5]
    environ = {**environment(own.urls), "ADMIN_KEY": ADMIN_KEY, "WEB_CONCURRENCY": "1"}
    settings = settings_for(own.urls)
    with ExitStack() as parts:
        runtime = parts.enter_context(connected(settings))
        server = parts.enter_context(running_server(environ, tmp_path / "web.log"))
        parts.enter_context(running("workers.supervisor", "ingest", settings=settings))
        parts.enter_context(running("workers.clock", settings=settings))
        api = Api(server.port, ADMIN_KEY)
        for batch in batches(lines[: len(lines) // 2]):
            api.deliver(batch)

        sender = Sender(api, lines[len(lines) // 2 :])
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(sender.run)
            try:
                made = delete_and_kill(runtime, api, [*doomed, CONVERSATION])
                assert not sending.done()
                assert sender.sent_once.wait(60)
            finally:
                sender.stopped.set()
            sending.result(60)

        left = {one: count for one, count in whole.items() if one not in doomed}
        eventually(60, "all other sessions are whole", lambda: listed(api) == left)
        events = {event["id"]: event["session_id"] for event in api.rows("events", limit=1000)}
        assert Counter(events.values()) == left
        with runtime.postgres.transaction() as session:
            found = session.execute(text("SELECT id FROM organizations WHERE slug = 'default'"))
            org = Org(found.scalar_one(), "default")
        # Only the session of the trace is left, by which late spans are dropped.
        assert places(runtime, org, *doomed, CONVERSATION) == {TRACE}
        report = api.get(f"/deletions/{made}")
        assert report["proofs"]
        for proof in report["proofs"]:
            body = json.dumps({"sql": proof["sql"]}).encode()
            assert send(api, "/queries/run", body)["rows"] == [[0]], proof["title"]
        assert report["dropped_events"] > len(CHILDREN)


def listed(api: Api) -> dict[str, int]:
    """Returns the number of events of each session."""
    return {row["session_id"]: row["event_count"] for row in api.rows("sessions", limit=200)}
