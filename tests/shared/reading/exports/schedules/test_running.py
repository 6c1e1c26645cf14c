"""Scheduled exports: every file equals the rows of its period, whatever happens in between."""

import io
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyarrow import parquet
from sqlalchemy import select, text

from shared.access.audit_log.models import AuditLine
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store as evaluations
from shared.reading.events.filters import EventFilters
from shared.reading.exports import pages
from shared.reading.exports.formats import encoded
from shared.reading.exports.schedules import running, service, writing
from shared.reading.exports.schedules.running import Exports
from shared.reading.sessions.selection import SessionFilters
from shared.upkeep.backup.manifest import Manifest
from shared.upkeep.backup.settle import settle
from tests.support.airline import Airline
from tests.support.evaluations import evaluation
from tests.support.events import event
from tests.support.exports import DAY, Site
from tests.support.runtime import Org, make_org
from tests.support.s3 import s3_server

TEN = "events/hourly/date=2026-11-02/2026-11-02T10.ndjson"
ELEVEN = "events/hourly/date=2026-11-02/2026-11-02T11.ndjson"


@pytest.fixture
def site(runtime: Runtime, org: Org, tmp_path: Path) -> Site:
    return Site(runtime, org, str(tmp_path / "exports"))


@pytest.fixture
def filled(site: Site) -> Site:
    """Two events at ten, one of another organization."""
    other = Site(site.runtime, make_org(site.runtime), site.target)
    other.store(event("foreign", "10:00:00"))
    site.store(event("s-1", "10:00:00"), event("s-2", "10:59:59.999999"))
    site.begin()
    site.look()
    return site


def test_the_recording_is_in_the_files_as_the_api_exports_it(
    runtime: Runtime, org: Org, tmp_path: Path, airline: Airline
) -> None:
    site = Site(runtime, org, str(tmp_path))
    newest = datetime.now(UTC) - timedelta(hours=2)
    site.store(*airline.recent(newest).lines)
    done = [evaluation(org.id, f"s-{n}", 1_793_613_600_000_000 + n) for n in range(3)]
    evaluations.insert(runtime.clickhouse, done)
    site.begin(since=DAY - timedelta(days=400))
    site.look()
    clickhouse = runtime.clickhouse
    for what, rows in (
        ("events", pages.of_events(clickhouse, org.id, EventFilters())),
        ("sessions", pages.of_sessions(clickhouse, org.id, SessionFilters())),
    ):
        exported = b"".join(encoded(what, "ndjson", rows)).splitlines()  # type: ignore[arg-type] # one of three
        files = [site.content(name) for name in site.names if name.startswith(what)]
        assert sorted(b"".join(files).splitlines()) == sorted(exported)
    assert len(site.rows("events")) == 13_007
    assert len(site.rows("sessions")) == 200
    assert {one["evaluation_id"] for one in site.rows("evaluations")} == {
        one.evaluation_id for one in done
    }


def test_a_file_has_the_rows_of_its_hour_and_of_its_organization(filled: Site) -> None:
    assert [one["session_id"] for one in filled.rows(TEN)] == ["s-1", "s-2"]
    assert filled.names == [TEN, TEN.replace("events", "sessions")]
    with filled.runtime.postgres.transaction() as session:
        query = select(AuditLine).where(
            AuditLine.org_id == filled.org.uuid, AuditLine.action == "events.export"
        )
        [line] = session.scalars(query)
    assert line.after is not None
    assert (line.target_id, line.after["rows"]) == (TEN, 2)


def test_files_of_unchanged_periods_are_left_alone(filled: Site) -> None:
    filled.look()
    assert set(filled.writes().values()) == {1}


def test_late_events_are_added_to_the_file_of_their_hour_alone(filled: Site) -> None:
    filled.store(event("s-3", "11:00:00"))
    filled.look()
    filled.store(event("s-1", "10:30:00"))
    filled.look()
    assert [one["session_id"] for one in filled.rows(TEN)] == ["s-1", "s-1", "s-2"]
    sessions = {name.replace("events", "sessions"): n for name, n in ((TEN, 2), (ELEVEN, 1))}
    assert filled.writes() == {TEN: 2, ELEVEN: 1, **sessions}


def test_a_session_that_goes_on_moves_to_the_later_file(filled: Site) -> None:
    filled.store(event("s-1", "11:00:00"))
    filled.look()
    found = {
        name[-10:]: [one["session_id"] for one in filled.rows(name)]
        for name in filled.names
        if name.startswith("sessions")
    }
    assert found == {"T10.ndjson": ["s-2"], "T11.ndjson": ["s-1"]}


def test_a_second_copy_of_an_event_is_no_second_row(filled: Site) -> None:
    filled.store(event("s-1", "10:00:00"))
    filled.look()
    assert len(filled.rows(TEN)) == 2


def test_a_file_without_rows_is_removed(filled: Site) -> None:
    _delete(filled.runtime.clickhouse, filled.org.id)
    filled.look()
    assert filled.names == []
    assert filled.writes() == {}


def test_files_outlive_the_rows_that_retention_removed(filled: Site) -> None:
    filled.set(retention__events_days=1)
    filled.look()
    _delete(filled.runtime.clickhouse, filled.org.id)
    filled.look()
    filled.set(retention__events_days=0)
    filled.look()
    assert len(filled.names) == 2


def test_another_format_replaces_files_when_their_rows_change(filled: Site) -> None:
    filled.set(exports__format="parquet")
    filled.look()
    assert TEN in filled.names
    filled.store(event("s-1", "10:30:00"))
    filled.look()
    assert TEN not in filled.names
    table = parquet.read_table(io.BytesIO(filled.content(TEN.replace("ndjson", "parquet"))))
    assert table.column("session_id").to_pylist() == ["s-1", "s-1", "s-2"]


def test_days_are_a_series_of_their_own(filled: Site) -> None:
    filled.begin("daily")
    filled.look()
    name = "events/daily/date=2026-11-02/2026-11-02.ndjson"
    assert [one["session_id"] for one in filled.rows(name)] == ["s-1", "s-2"]
    assert TEN in filled.names


def test_a_schedule_that_is_off_writes_nothing(filled: Site) -> None:
    filled.set(exports__schedule="off")
    filled.store(event("s-1", "10:30:00"))
    filled.look()
    assert filled.schedule is None
    assert len(filled.rows(TEN)) == 2


def test_a_new_schedule_begins_with_the_present_period(site: Site) -> None:
    site.store(event("s-1", "10:00:00"))
    site.set(exports__schedule="hourly")
    before = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    site.look()
    schedule = site.schedule
    assert schedule is not None
    assert before <= schedule.since <= datetime.now(UTC)
    assert site.names == []


def test_an_hour_has_a_file_a_minute_after_its_end(site: Site) -> None:
    now = datetime.now(UTC)
    last = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    lines = [
        event("s-1", "10:00:00").replace(b"2026-11-02T10:00:00Z", moment.isoformat().encode())
        for moment in (last, now)
    ]
    site.store(*lines)
    site.begin(since=last)
    site.look(full=False)
    closed = now - last.replace() - timedelta(hours=1) >= running.SETTLE
    assert len(site.rows("events")) == (1 if closed else 0)


def test_only_a_full_look_finds_what_changed_long_ago(filled: Site) -> None:
    filled.store(event("s-1", "10:30:00"))
    filled.look(full=False)
    assert filled.writes()[TEN] == 1
    filled.look()
    assert filled.writes()[TEN] == 2


def test_a_place_that_is_down_delays_files_and_loses_none(filled: Site, tmp_path: Path) -> None:
    blocked = Site(filled.runtime, filled.org, str(tmp_path / "a file"))
    (tmp_path / "a file").write_text("in the way")
    filled.store(event("s-1", "11:00:00"))
    blocked.look()
    assert blocked.error == running._NO_TARGET
    assert str(tmp_path) not in blocked.error
    filled.look()
    assert filled.error is None
    assert [one["session_id"] for one in filled.rows(ELEVEN)] == ["s-1"]


def test_a_place_that_is_not_configured_is_an_error_to_read(filled: Site) -> None:
    chosen = msgspec.structs.replace(filled.runtime.settings, export_target=None)
    filled.runtime = replace(filled.runtime, settings=chosen)
    filled.look()
    assert filled.error == running._NO_TARGET


class _Killed(BaseException):
    """The end of a process: nothing of the program runs after it."""


def _die(*_: object, **__: object) -> None:
    raise _Killed


@pytest.mark.parametrize("method", ["_mark", "_finish"])
def test_a_worker_that_dies_leaves_its_file_to_the_next_one(
    filled: Site, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    filled.store(event("s-1", "11:00:00"), event("s-1", "10:30:00"))
    with monkeypatch.context() as patched:
        patched.setattr(writing.Files, method, _die)
        with pytest.raises(_Killed):
            filled.look()
    _end_leases(filled)
    filled.look()
    assert [one["session_id"] for one in filled.rows(TEN)] == ["s-1", "s-1", "s-2"]
    assert [one["session_id"] for one in filled.rows(ELEVEN)] == ["s-1"]


def test_a_worker_that_lost_its_lease_has_its_file_written_again(
    filled: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its old content may have replaced the newer one of the worker that took over."""
    finish = writing.Files._finish

    def stalled(self: writing.Files, *values: Any) -> None:
        monkeypatch.setattr(writing.Files, "_finish", finish)
        _end_leases(filled)
        with filled.runtime.postgres.transaction() as session:
            session.execute(text("UPDATE export_schedules SET lease_token = gen_random_uuid()"))
        finish(self, *values)

    monkeypatch.setattr(writing.Files, "_finish", stalled)
    filled.store(event("s-1", "10:30:00"))
    # The second worker's lease has ended too, so the same look goes on with it.
    filled.look()
    assert filled.writes()[TEN] == 3


def test_a_restored_organization_has_its_files_written_again(filled: Site) -> None:
    """The place of the new deployment has none of them."""
    with filled.runtime.postgres.transaction() as session:
        finished_at = DAY.isoformat()
        found = Manifest("id", "deployment", "1", 1, finished_at, finished_at, finished_at)
        settle(session.connection(), found, filled.org.uuid)
    Exports(filled.runtime, threading.Event(), org_id=filled.org.uuid).run()
    assert set(filled.writes().values()) == {2}


def test_a_stop_in_the_middle_continues_at_once(filled: Site) -> None:
    filled.store(event("s-1", "11:00:00"))
    with filled.runtime.postgres.transaction() as session:
        service.look_again(session, filled.org.uuid)
    exports = Exports(filled.runtime, threading.Event(), org_id=filled.org.uuid)
    with filled.runtime.postgres.transaction() as session:
        held = exports._claim(session)
    assert held is not None
    held.stopping.set()
    exports._look(held)
    assert filled.error is None
    assert Exports(filled.runtime, threading.Event(), org_id=filled.org.uuid).run() == 1
    assert ELEVEN in filled.names


def test_a_command_during_a_look_is_not_forgotten(
    filled: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = running._Look._changes

    def interrupted(self: running._Look, start: datetime, end: datetime) -> Iterator[Any]:
        yield from changes(self, start, end)
        monkeypatch.setattr(running._Look, "_changes", changes)
        filled.begin(since=DAY - timedelta(days=30))

    filled.store(event("s-0", "10:00:00").replace(b"2026-11-02", b"2026-10-10"))
    monkeypatch.setattr(running._Look, "_changes", interrupted)
    filled.look()
    assert len(filled.rows("events/hourly/date=2026-10-10")) == 1


def test_many_files_are_written_in_several_turns(
    filled: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_FILES_OF_TURN", 2)
    filled.store(*(event("s-1", f"{hour:02}:00:00") for hour in range(11, 20)))
    filled.look()
    assert len(filled.rows("events")) == 11


def test_files_go_to_a_bucket(runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server() as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        site = Site(runtime, org, f"s3://{server.new_bucket()}/watchpost")
        site.store(event("s-1", "10:00:00"))
        site.begin()
        site.look()
        site.store(event("s-1", "10:30:00"))
        site.look()
        assert len(site.rows(TEN)) == 2


def _delete(clickhouse: ClickHouse, org_id: str) -> None:
    for table in ("events", "agent_sessions"):
        clickhouse.rows(
            f"DELETE FROM {table} WHERE org_id = {{org_id:String}}",  # two names
            {"org_id": org_id},
        )


def _end_leases(site: Site) -> None:
    with site.runtime.postgres.transaction() as session:
        session.execute(text("UPDATE export_schedules SET lease_expires_at = now()"))
