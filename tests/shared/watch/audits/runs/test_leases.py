"""A run is carried out by one worker at a time and ends once, even when workers are killed."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import leases
from shared.watch.audits.runs import claims, ending, runner
from shared.watch.audits.runs.claims import ClaimedRun
from shared.watch.audits.runs.looking import RunFindings
from shared.watch.audits.runs.report import ModelMessage, ReportFailed
from shared.watch.audits.signals.interface import Candidate, Look, Window
from tests.support.audits import AuditBench, candidate, finding, meanwhile
from tests.support.runtime import make_org


def taken(bench: AuditBench) -> ClaimedRun:
    """Claims the next run for a worker that never comes back."""
    bench.settle()
    with bench.runtime.postgres.transaction() as session:
        claim = claims.claim(session, bench.runtime.redis, bench.org.uuid)
    assert claim is not None
    return claim


def looked(bench: AuditBench) -> RunFindings:
    """Returns the result of a late worker."""
    run = bench.last_run()
    look = Look(
        clickhouse=bench.runtime.clickhouse,
        org_id=bench.org.id,
        window=Window(run["window_from"], run["window_to"]),
    )
    return RunFindings(
        [candidate(look, "late", severity="critical")], 1, {"signals": {"a": {}}}, {}
    )


def queued(bench: AuditBench) -> None:
    """Queues one run."""
    bench.make()
    bench.schedule()


def test_many_workers_at_once_carry_each_run_out_once(bench: AuditBench) -> None:
    for _ in range(6):
        bench.make()
    bench.schedule()
    seen: list[Window] = []
    lock = threading.Lock()

    def find(look: Look) -> list[Candidate]:
        with lock:
            seen.append(look.window)
        return [candidate(look)]

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: bench.run({"test": find}), range(4)))
    assert sum(counts) == len(seen) == 6
    assert {(run["status"], run["attempts"]) for run in bench.runs()} == {("succeeded", 1)}
    assert len(bench.findings()) == 6


def test_a_run_of_a_killed_worker_is_taken_over_and_keeps_its_window(bench: AuditBench) -> None:
    queued(bench)
    taken(bench)
    before = bench.last_run()
    assert bench.run() == 0
    bench.end_lease()
    assert bench.run() == 1
    run = bench.last_run()
    assert (run["status"], run["attempts"], run["findings_count"]) == ("succeeded", 2, 1)
    for column in ("window_from", "window_to", "started_at"):
        assert run[column] == before[column]


def test_a_run_that_kills_every_worker_ends(bench: AuditBench) -> None:
    queued(bench)
    for _ in range(3):
        taken(bench)
        bench.end_lease()
    bench.run()
    run = bench.last_run()
    assert (run["status"], run["error"]) == ("failed", "no worker finished the run in 3 attempts")
    assert bench.audit()["last_error"] == run["error"]
    assert bench.findings() == []


def test_a_worker_that_comes_late_files_and_ends_nothing(bench: AuditBench) -> None:
    queued(bench)
    late = taken(bench)
    found = looked(bench)
    bench.end_lease()
    bench.run({"test": finding("in time")})
    before = bench.last_run()
    assert ending.file(bench.runtime, late, found) is None
    assert ending.fail(bench.runtime, late, "late") is False
    with bench.runtime.postgres.transaction() as session:
        claims.give_back(session, late, after_secs=0)
    assert bench.last_run() == before
    assert [one["title"] for one in bench.findings()] == ["Errors: in time"]
    assert bench.sql("SELECT 1 FROM incidents WHERE org_id = :org_id") == []


def test_a_worker_that_stops_gives_its_run_back_between_signals(bench: AuditBench) -> None:
    queued(bench)
    stopping = threading.Event()
    signals = {"first": meanwhile(stopping.set), "second": finding("never")}
    bench.run(signals, stopping=stopping)
    run = bench.last_run()
    assert (run["status"], run["attempts"], run["lease_token"]) == ("running", 0, None)
    assert bench.findings() == []
    assert bench.run() == 1
    assert bench.last_run()["status"] == "succeeded"


def test_a_run_that_always_takes_too_long_ends(
    bench: AuditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[threading.Event] = []
    original = leases.kept

    @contextmanager
    def kept(*args: Any, **kwargs: Any) -> Iterator[threading.Event]:
        with original(*args, **kwargs) as lost:
            beats.append(lost)
            yield lost

    def outlast() -> None:
        assert beats[-1].wait(30)

    monkeypatch.setattr(leases, "RENEWALS", 60_000)
    monkeypatch.setattr(runner, "MAX_RUN_SECS", 0.0)
    monkeypatch.setattr(leases, "kept", kept)
    queued(bench)
    for attempt in range(1, 4):
        assert bench.run({"slow": meanwhile(outlast), "second": finding("never")}) == 1
        run = bench.last_run()
        assert (run["status"], run["attempts"]) == ("running", attempt)
        assert bench.run() == 0
        bench.end_lease()
    bench.run()
    run = bench.last_run()
    assert (run["status"], run["error"]) == ("failed", "no worker finished the run in 3 attempts")
    assert bench.findings() == []


def test_a_worker_whose_lease_is_gone_files_nothing(bench: AuditBench) -> None:
    queued(bench)

    def lose() -> None:
        bench.end_lease()
        taken(bench)

    bench.run({"test": meanwhile(lose, then=finding("leak", severity="critical"))})
    run = bench.last_run()
    assert (run["status"], run["attempts"]) == ("running", 2)
    assert bench.findings() == []


def test_a_run_is_kept_until_it_is_gone(bench: AuditBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6000)
    queued(bench)
    claim = taken(bench)
    before = bench.last_run()["lease_expires_at"]
    with leases.kept(bench.runtime.postgres, claim.lease, claims.LEASE_SECS) as lost:
        while bench.last_run()["lease_expires_at"] == before:
            assert not lost.is_set()
        bench.sql("DELETE FROM audits WHERE org_id = :org_id")
        assert lost.wait(30)


def test_a_worker_that_is_killed_after_filing_costs_the_report_only(bench: AuditBench) -> None:
    bench.store("s1")
    queued(bench)
    claim = taken(bench)
    ending.file(bench.runtime, claim, looked(bench))
    filed = bench.last_run()
    bench.end_lease()
    asked: list[ModelMessage] = []

    def ask(messages: object) -> str:
        asked.append(ModelMessage("user", ""))
        return '{"summary": "", "claims": [{"text": "It leaks.", "session_ids": ["s1"]}]}'

    assert bench.run({"test": finding("not looked for again")}, ask=ask) == 1
    run = bench.last_run()
    assert (run["status"], run["findings_count"], len(asked)) == ("succeeded", 1, 1)
    assert "It leaks." in run["report"]
    assert (run["stats"], run["filed_at"]) == (filed["stats"], filed["filed_at"])
    assert [one["title"] for one in bench.findings()] == ["Errors: late"]


def test_filed_findings_stay_however_often_the_report_kills_the_worker(bench: AuditBench) -> None:
    queued(bench)
    ending.file(bench.runtime, taken(bench), looked(bench))
    for _ in range(2):
        bench.end_lease()
        taken(bench)
    bench.end_lease()
    bench.run(ask=_never)
    run = bench.last_run()
    assert (run["status"], run["error"], run["findings_count"]) == ("succeeded", None, 1)
    assert run["stats"]["report_error"] == "no worker finished the run in 3 attempts"
    assert bench.audit()["last_error"] is None


def test_organizations_take_turns(runtime: Runtime, bench: AuditBench) -> None:
    many, one = bench, AuditBench(runtime, make_org(runtime))
    # Remove the runs that other tests left waiting.
    many.sql("DELETE FROM audits WHERE org_id <> :org_id")
    for _ in range(3):
        many.make()
    many.schedule()
    queued(one)
    many.settle()
    one.settle()
    order = []
    for _ in range(4):
        with runtime.postgres.transaction() as session:
            claim = claims.claim(session, runtime.redis)
        assert claim is not None
        order.append(claim.row.org_id)
    assert order.index(one.org.uuid) <= 1
    assert order.count(many.org.uuid) == 3


def _never(_messages: object) -> str:
    raise ReportFailed("asked once more")
