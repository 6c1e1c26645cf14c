"""Each process learns of redacted keys at once, and cached lists cost nothing."""

import json
from collections.abc import Iterator

import pytest
from sqlalchemy import insert

from devstack import DevStack
from shared.access.settings.catalogue import CATALOGUE
from shared.access.settings.models import OrganizationSetting
from shared.access.settings.service import Editor, replace
from shared.foundation.cache import at_once, current_epoch, renew_epoch
from shared.foundation.cache import cache as cache_module
from shared.foundation.core.clock import format_ts, now
from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.envelope import Envelope
from shared.intake.ingest.sender import Sender
from shared.intake.ingest.stream import remove
from shared.intake.redaction.redactions import SETTING, Redactions
from tests.support.runtime import Org, connected, make_org, settings_for
from tests.support.statements import counted_statements
from tests.support.streams import waiting_payloads

LINE = b'{"a":1,"b":2}'


@pytest.fixture
def processes(migrated_stack: DevStack) -> Iterator[list[Runtime]]:
    """The connections of two web processes."""
    settings = settings_for(migrated_stack.urls, database_pool_size=4)
    with connected(settings) as one, connected(settings) as two:
        yield [one, two]


def list_keys(runtime: Runtime, org: Org, *names: str) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        replace(session, runtime.settings, org.uuid, SETTING, list(names), Editor("test", None))


def test_a_change_holds_in_two_processes(
    runtime: Runtime, org: Org, processes: list[Runtime]
) -> None:
    other = make_org(runtime)
    list_keys(runtime, other, "b")
    redactions = [Redactions(process) for process in processes]

    def redacted(whose: Org) -> set[bytes]:
        epoch = current_epoch(runtime.redis)
        return {one.of(whose.id, epoch).redact(LINE) for one in redactions}

    assert redacted(org) == {LINE}
    list_keys(runtime, org, "a")
    assert redacted(org) == {b'{"a":"[redacted]","b":2}'}
    assert redacted(other) == {b'{"a":1,"b":"[redacted]"}'}
    list_keys(runtime, org)
    assert redacted(org) == {LINE}


def test_a_cached_value_needs_no_request(runtime: Runtime, org: Org) -> None:
    redactions, epoch = Redactions(runtime), current_epoch(runtime.redis)
    first = redactions.of(org.id, epoch)
    before = runtime.redis.info("commandstats")
    with counted_statements(runtime) as statements:
        assert all(redactions.of(org.id, epoch) is first for _ in range(10))
    assert statements == []
    after = runtime.redis.info("commandstats")
    assert {name for name in after if name not in before} <= {"cmdstat_info"}
    assert before["cmdstat_get"]["calls"] == after["cmdstat_get"]["calls"]


def test_names_that_were_set_before_they_were_refused_have_no_effect(
    runtime: Runtime, org: Org
) -> None:
    listed = ["Type", "a", "session_id"]
    with runtime.postgres.transaction() as session:
        session.execute(
            insert(OrganizationSetting).values(
                org_id=org.uuid, key=SETTING, value=listed, updated_by="before"
            )
        )
    redact = Redactions(runtime).of(org.id, None).redact
    assert redact(b'{"type":1,"session_id":2,"a":3}') == (
        b'{"type":1,"session_id":2,"a":"[redacted]"}'
    )


def test_the_fields_that_every_event_has_cannot_be_listed() -> None:
    assert CATALOGUE[SETTING].reserved == Envelope.__struct_fields__


def test_while_postgres_is_away_nothing_is_stored_unredacted(
    runtime: Runtime,
    org: Org,
    stack: DevStack,
    processes: list[Runtime],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A list from a minute ago is read again, unless the store is away and nothing changed.
    monkeypatch.setattr(cache_module, "LIFETIME_SECS", 0.0)
    known, fresh = (Ingest(process) for process in processes)
    list_keys(runtime, org, "secret")
    send(known, runtime, org, "before")
    stack.postgres.kill()
    try:
        send(known, runtime, org, "during")
        with pytest.raises(Unavailable):
            send(fresh, runtime, org, "refused")
        renew_epoch(runtime.redis)
        with pytest.raises(Unavailable):
            send(known, runtime, org, "refused")
    finally:
        stack.postgres.start()
        stack.postgres.wait_ready()
    held = [json.loads(payload) for payload in waiting_payloads(runtime, org)]
    # Otherwise they would disturb tests that count drained events.
    remove(runtime.redis, org.id)
    assert [(event["session_id"], event["secret"]) for event in held] == [
        ("before", "[redacted]"),
        ("during", "[redacted]"),
    ]


def send(ingest: Ingest, runtime: Runtime, org: Org, session_id: str) -> None:
    """Accepts one small event, as a request does right after authentication."""
    event = {"session_id": session_id, "timestamp": format_ts(now()), "type": "note"}
    ingest.accept(
        Sender(org.id, org.slug, epoch=current_epoch(runtime.redis)),
        body=json.dumps({**event, "secret": "hush"}).encode(),
        media_type="application/x-ndjson",
        encoding="",
    )
