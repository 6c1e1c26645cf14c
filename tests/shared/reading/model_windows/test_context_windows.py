"""An organization's own context windows reach its next event in every worker process."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import event

from devstack import DevStack
from shared.foundation.cache import at_once, renew_epoch
from shared.foundation.cache import cache as cache_module
from shared.foundation.core.clock import format_ts, now
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.drain import PAUSE_KEY, Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.ingest.sender import Sender
from shared.reading.model_windows import service
from tests.support.runtime import Org, connected, make_org, settings_for

MODEL, WINDOW = "gpt-4o-2024-08-06", 128_000
TOKENS = {"input_tokens": 600, "output_tokens": 40}


@dataclass
class Worker:
    """The connections and the cache of an ingest process."""

    runtime: Runtime
    rules_of: IngestRulesCache
    name: str

    def drain(self) -> int:
        return Drain(self.runtime, self.name, self.rules_of).run()


@pytest.fixture
def make_worker(migrated_stack: DevStack) -> Iterator[Callable[[], Worker]]:
    """Makes worker processes, reduced to this purpose. No batch of other tests waits for them."""
    opened = []
    settings = settings_for(migrated_stack.urls, ingest_claim_idle_secs=0.05)
    with connected(settings) as before:
        before.redis.flushdb()

    def make() -> Worker:
        context = connected(settings)
        runtime = context.__enter__()
        opened.append(context)
        return Worker(runtime, IngestRulesCache(runtime), f"w{len(opened)}-{new_id()}")

    yield make
    for context in opened:
        context.__exit__(None, None, None)


def set_window(runtime: Runtime, org: Org, window: int, model: str = MODEL) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        service.replace(session, org.uuid, model, window)


def unset_window(runtime: Runtime, org: Org, model: str = MODEL) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        service.delete(session, org.uuid, model)


def post(runtime: Runtime, org: Org, session_id: str, model: str = MODEL) -> None:
    fields = {"timestamp": format_ts(now()), "type": "model_response", "model": model, **TOKENS}
    Ingest(runtime).accept(
        Sender(org.id, org.slug),
        body=json.dumps({"session_id": session_id, **fields}).encode(),
        media_type="application/x-ndjson",
        encoding="",
    )


def stored(runtime: Runtime, org: Org, session_id: str) -> tuple[int | None, float | None]:
    [row] = runtime.clickhouse.rows(
        "SELECT context_window, context_fill FROM events FINAL"
        " WHERE org_id = {org_id:String} AND session_id = {session_id:String}",
        {"org_id": org.id, "session_id": session_id},
    )
    return row[0], row[1]


def test_a_change_holds_for_the_very_next_event_in_two_processes(
    runtime: Runtime, org: Org, make_worker: Callable[[], Worker]
) -> None:
    workers = [make_worker(), make_worker()]
    changes: list[tuple[Callable[[], None], int | None]] = [
        (lambda: None, WINDOW),
        (lambda: set_window(runtime, org, 1000), 1000),
        (lambda: set_window(runtime, org, 2000), 2000),
        (lambda: set_window(runtime, org, 0), None),
        (lambda: unset_window(runtime, org), WINDOW),
    ]
    for step, (change, window) in enumerate(changes):
        change()
        for worker in workers:
            session_id = f"{step}-{worker.name}"
            post(runtime, org, session_id)
            assert worker.drain() == 1
            fill = None if window is None else 640 / window
            assert stored(runtime, org, session_id) == (window, fill)


def test_a_window_counts_for_its_organization_and_its_exact_model_only(
    runtime: Runtime, org: Org, make_worker: Callable[[], Worker]
) -> None:
    other = make_org(runtime)
    set_window(runtime, org, 1000)
    set_window(runtime, other, 500, "house-model")
    for whose in (org, other):
        for model in (MODEL, MODEL.upper(), "house-model"):
            post(runtime, whose, model, model)
    assert make_worker().drain() == 6
    found = {
        (whose.slug, model): stored(runtime, whose, model)[0]
        for whose in (org, other)
        for model in (MODEL, MODEL.upper(), "house-model")
    }
    assert found == {
        (org.slug, MODEL): 1000,
        (org.slug, MODEL.upper()): WINDOW,
        (org.slug, "house-model"): None,
        (other.slug, MODEL): WINDOW,
        (other.slug, MODEL.upper()): WINDOW,
        (other.slug, "house-model"): 500,
    }


def test_organizations_are_read_together_and_once(
    runtime: Runtime, make_worker: Callable[[], Worker]
) -> None:
    worker, orgs = make_worker(), [make_org(runtime).id for _ in range(5)]
    statements: list[str] = []
    event.listen(
        worker.runtime.postgres.engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, *_rest: statements.append(statement),
    )
    for asked in (orgs[:3], orgs, orgs, orgs[2:]):
        assert worker.rules_of(asked).keys() == set(asked)
    assert len([one for one in statements if "model_context_windows" in one]) == 2


def test_while_postgres_is_away_what_is_remembered_counts_and_nothing_is_guessed(
    runtime: Runtime,
    org: Org,
    stack: DevStack,
    make_worker: Callable[[], Worker],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A value from a minute ago is read again, unless the store is away and nothing changed.
    monkeypatch.setattr(cache_module, "LIFETIME_SECS", 0.0)
    known, fresh = make_worker(), make_worker()
    set_window(runtime, org, 1000)
    known.rules_of([org.id])
    post(runtime, org, "during")
    stack.postgres.kill()
    try:
        assert known.rules_of([org.id])[org.id].window_of(MODEL) == 1000
        with pytest.raises(Unavailable):
            fresh.drain()
        renew_epoch(runtime.redis)
        with pytest.raises(Unavailable):
            known.rules_of([org.id])
    finally:
        stack.postgres.start()
        stack.postgres.wait_ready()
    runtime.redis.delete(PAUSE_KEY)
    time.sleep(0.1)  # longer than INGEST_CLAIM_IDLE_SECS: another worker may take the entry over
    assert known.drain() == 1
    assert stored(runtime, org, "during") == (1000, 0.64)
