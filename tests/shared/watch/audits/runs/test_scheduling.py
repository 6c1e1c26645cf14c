"""Due runs are queued once, however many processes look."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.foundation.core.clock import now
from shared.watch.audits import service
from shared.watch.audits.runs import claims
from shared.watch.audits.schedule import next_point
from tests.support.audits import AuditBench, meanwhile

HOUR = 3600


def make_due(bench: AuditBench) -> None:
    bench.sql("UPDATE audits SET next_attempt_at = now() WHERE org_id = :org_id")


def change(bench: AuditBench, **fields: Any) -> datetime | None:
    """Returns the moment at which the only audit is due after a change."""
    with bench.runtime.postgres.transaction() as session:
        audit_id = str(bench.audit()["id"])
        changed = service.replace(session, bench.org.uuid, audit_id, fields)
        return changed.audit.next_attempt_at


def test_a_new_audit_runs_at_once_and_then_on_its_grid(bench: AuditBench) -> None:
    anchor = now() - timedelta(days=30, minutes=20)
    audit = bench.make(schedule_anchor=anchor, schedule_interval_secs=HOUR)
    assert audit.next_attempt_at == audit.created_at
    bench.schedule()
    [run] = bench.runs()
    assert (run["status"], run["trigger_kind"], run["started_at"]) == ("queued", "scheduled", None)
    due = bench.audit()["next_attempt_at"]
    assert due == next_point(now(), anchor, HOUR)
    bench.schedule()
    assert len(bench.runs()) == 1


def test_an_anchor_ahead_is_waited_for_after_the_first_run(bench: AuditBench) -> None:
    anchor = now() + timedelta(days=200)
    bench.make(schedule_anchor=anchor, schedule_interval_secs=HOUR)
    bench.schedule()
    assert len(bench.runs()) == 1
    assert bench.audit()["next_attempt_at"] == anchor


def test_a_disabled_audit_is_never_due(bench: AuditBench) -> None:
    audit = bench.make(enabled=False)
    assert audit.next_attempt_at is None
    bench.schedule()
    assert bench.runs() == []


def test_an_audit_that_is_enabled_again_waits_for_its_next_point(bench: AuditBench) -> None:
    anchor = now() + timedelta(minutes=30)
    bench.make(enabled=False, schedule_anchor=anchor)
    assert change(bench, enabled=True) == anchor
    assert change(bench, enabled=False) is None


def test_another_schedule_moves_the_next_run_and_another_name_does_not(bench: AuditBench) -> None:
    bench.make(schedule_anchor=now() - timedelta(minutes=10))
    bench.schedule()
    before = bench.audit()["next_attempt_at"]
    assert change(bench, name="new", schedule_interval_secs=86_400) == before
    after = change(bench, schedule_interval_secs=HOUR)
    assert after is not None
    assert after < before


def test_another_schedule_does_not_put_off_what_is_due(bench: AuditBench) -> None:
    audit = bench.make()
    assert change(bench, schedule_interval_secs=HOUR) == audit.next_attempt_at


def test_many_schedulers_at_once_queue_one_run(bench: AuditBench) -> None:
    for _ in range(5):
        bench.make()
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(bench.schedule) for _ in range(8)]:
            done.result()
    found = bench.runs()
    assert len(found) == len({run["audit_id"] for run in found}) == 5


def test_a_run_that_is_queued_already_does_for_the_point_that_is_due(bench: AuditBench) -> None:
    audit = bench.make(schedule_anchor=now() + timedelta(minutes=30))
    run_id = bench.request(audit)
    bench.schedule()
    [run] = bench.runs()
    assert (run["id"], run["trigger_kind"]) == (run_id, "manual")
    assert bench.audit()["next_attempt_at"] > now()
    assert bench.audit()["last_error"] is None


def test_a_point_that_comes_while_a_run_is_under_way_is_left_out(bench: AuditBench) -> None:
    bench.make(schedule_anchor=now() + timedelta(minutes=30))
    bench.schedule()

    def come_due() -> None:
        make_due(bench)
        bench.schedule()

    bench.run({"test": meanwhile(come_due)})
    [run] = bench.runs()
    assert run["status"] == "succeeded"
    audit = bench.audit()
    assert audit["next_attempt_at"] > now()
    assert audit["last_error"] == "a run was skipped because the previous one had not ended"
    # The next run that starts is the next attempt.
    make_due(bench)
    bench.schedule()
    bench.run()
    assert (len(bench.runs()), bench.audit()["last_error"]) == (2, None)


def test_disabling_takes_back_a_run_that_is_queued(bench: AuditBench) -> None:
    bench.make()
    bench.schedule()
    change(bench, enabled=False)
    assert bench.runs() == []


def test_a_run_that_is_under_way_goes_on_when_its_audit_is_disabled(bench: AuditBench) -> None:
    bench.make()
    bench.schedule()
    bench.run({"test": meanwhile(lambda: change(bench, enabled=False))})
    assert bench.last_run()["status"] == "succeeded"


def test_nothing_is_queued_or_begun_in_an_organization_that_was_deleted(bench: AuditBench) -> None:
    bench.make()
    bench.schedule()
    bench.make()
    bench.sql("UPDATE organizations SET deleted_at = now() WHERE id = :org_id")
    bench.schedule()
    assert len(bench.runs()) == 1
    assert bench.run() == 0


def test_a_run_waits_until_what_was_accepted_before_it_counts_as_settled(
    bench: AuditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "SETTLE", timedelta(minutes=5))
    audit = bench.make()
    bench.request(audit)
    with bench.runtime.postgres.transaction() as session:
        assert claims.claim(session, bench.runtime.redis, bench.org.uuid) is None
    bench.sql("UPDATE audit_runs SET queued_at = now() - interval '5 min' WHERE org_id = :org_id")
    assert bench.run() == 1
