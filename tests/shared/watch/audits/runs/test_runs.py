"""The window of a run, and the fate of its findings."""

from datetime import datetime, timedelta

import pytest
from clickhouse_driver.errors import ErrorCodes, ServerException
from structlog.testing import capture_logs

from shared.access.organizations.creations import created_in
from shared.foundation.core.clock import now, to_us
from shared.foundation.core.errors import QueryTimeout, Unavailable
from shared.foundation.queue.waiting import event_stream
from shared.intake.ingest import stream
from shared.watch.audits import service
from shared.watch.audits.signals import NAMES, SIGNALS
from shared.watch.audits.signals.interface import Candidate, Find, Look
from tests.support.audits import AuditBench, candidate, finding, meanwhile
from tests.support.runtime import make_org

HOUR = timedelta(hours=1)


def run_now(bench: AuditBench, signals: dict[str, Find] | None = None) -> None:
    """Carries out one run of the only audit."""
    bench.sql("UPDATE audits SET next_attempt_at = now() WHERE org_id = :org_id")
    bench.schedule()
    assert bench.run(signals) == 1


def looks(seen: list[Look]) -> Find:
    """A signal that records its looks and finds nothing."""

    def find(look: Look) -> list[Candidate]:
        seen.append(look)
        return []

    return find


def raising(error: Exception) -> Find:
    """A signal that fails."""

    def find(_look: Look) -> list[Candidate]:
        raise error

    return find


def results_wait(bench: AuditBench, *moments: datetime) -> None:
    """Evaluations that ended at these moments and are not in ClickHouse yet."""
    for number, moment in enumerate(moments):
        bench.sql(
            "INSERT INTO evaluation_jobs (id, org_id, session_id, agent_id, environment, status,"
            " trigger, request_id, enqueued_at, next_attempt_at, completed_at, result)"
            " VALUES (gen_random_uuid(), :org_id, :session_id, 'a', 'default', 'storing',"
            " 'agent_end', 'r', :at, :at, :at, :result)",
            session_id=f"s{number}",
            at=moment,
            result=b"\x81\xa6status\xa4done",
        )


def test_a_run_from_its_start_to_its_end(bench: AuditBench) -> None:
    began = now()
    bench.store("s1", "s2")
    bench.store("s1", secs_ago=30)
    bench.make()
    bench.schedule()
    bench.run({"first": finding("a", "b"), "second": finding("c")})
    run = bench.last_run()
    assert (run["status"], run["attempts"], run["error"]) == ("succeeded", 1, None)
    assert began < run["started_at"] <= run["filed_at"] <= run["finished_at"]
    assert run["window_to"] - run["window_from"] == HOUR
    assert began < run["window_to"] + timedelta(seconds=2) <= run["filed_at"]
    assert (run["findings_count"], run["new_findings_count"], run["report"]) == (3, 3, None)
    assert run["lease_token"] is None
    stats = run["stats"]
    assert (stats["total_sessions"], stats["events"]) == (2, 3)
    assert {name: one["candidates"] for name, one in stats["signals"].items()} == {
        "first": 2,
        "second": 1,
    }
    assert stats["failed_signals"] == {}
    assert [one["title"] for one in bench.findings()] == ["Errors: a", "Errors: b", "Errors: c"]
    audit = bench.audit()
    assert (audit["last_attempted_at"], audit["last_error"]) == (run["started_at"], None)


def test_every_run_that_begins_is_counted_once(bench: AuditBench) -> None:
    audit = bench.make()
    bench.request(audit)
    bench.run({"test": raising(Unavailable("away"))})
    bench.end_lease()
    bench.run()
    run_now(bench)
    with bench.runtime.postgres.transaction() as session:
        day = timedelta(days=1)
        count = created_in(session, bench.org.uuid, "audit_run", now() - day, now() + day)
    assert (count, len(bench.runs())) == (2, 2)


def test_a_window_begins_where_the_last_run_that_succeeded_ended(bench: AuditBench) -> None:
    bench.make()
    run_now(bench)
    run_now(bench, {"test": raising(ValueError())})
    run_now(bench)
    first, failed, second = bench.runs()
    assert [first["status"], failed["status"]] == ["succeeded", "failed"]
    assert failed["window_from"] == second["window_from"] == first["window_to"]


def test_a_fixed_window_has_the_same_length_each_time(bench: AuditBench) -> None:
    bench.make(window_mode="fixed")
    run_now(bench)
    run_now(bench)
    assert {run["window_to"] - run["window_from"] for run in bench.runs()} == {HOUR}


def test_after_a_long_pause_a_window_reaches_back_a_quarter_of_a_year(bench: AuditBench) -> None:
    bench.make()
    run_now(bench)
    bench.sql(
        "UPDATE audit_runs SET window_to = window_to - interval '1 year' WHERE org_id = :org_id"
    )
    run_now(bench)
    run = bench.last_run()
    assert run["window_to"] - run["window_from"] == timedelta(days=90)


def test_an_empty_window_is_looked_at_with_no_signal(bench: AuditBench) -> None:
    bench.make()
    run_now(bench)
    ahead = now() + timedelta(days=1)
    bench.sql("UPDATE audit_runs SET window_to = :ahead WHERE org_id = :org_id", ahead=ahead)
    run_now(bench, {"test": raising(AssertionError("shown an empty window"))})
    run = bench.last_run()
    assert (run["status"], run["window_from"], run["window_to"]) == ("succeeded", ahead, ahead)
    assert (run["stats"]["total_sessions"], run["stats"]["signals"]) == (0, {})


def test_a_window_ends_before_what_is_accepted_and_not_stored(bench: AuditBench) -> None:
    before = now()
    bench.make()
    bench.schedule()
    # A batch that arrived a minute ago.
    entry_id = f"{to_us(before) // 1000 - 60_000}-0"
    bench.runtime.redis.xadd(event_stream(bench.org.id), {"data": b""}, id=entry_id)
    bench.run()
    stream.remove(bench.runtime.redis, bench.org.id)
    assert bench.last_run()["window_to"] <= before - timedelta(seconds=60)


def test_a_window_ends_before_a_result_of_an_evaluation_that_is_not_stored(
    bench: AuditBench,
) -> None:
    bench.make()
    minute = timedelta(minutes=1)
    results_wait(AuditBench(bench.runtime, make_org(bench.runtime)), now() - 9 * minute)
    first, second = now() - 2 * minute, now() - minute
    results_wait(bench, second, first)
    run_now(bench)
    assert bench.last_run()["window_to"] == first
    bench.sql("UPDATE evaluation_jobs SET status = 'done' WHERE org_id = :org_id")
    run_now(bench)
    run = bench.last_run()
    assert run["window_from"] == first
    assert run["window_to"] > second


def test_a_signal_is_shown_what_the_audit_says(bench: AuditBench) -> None:
    bench.store("s1", "s2", environment="prod", agent_id="a")
    bench.store("s3", environment="test", agent_id="a")
    bench.store("s4", environment="prod", agent_id="b")
    bench.make(
        scope={"environments": ["prod"], "agent_ids": ["a"]},
        ignore_error_types=["Expected"],
        sensitivity="high",
    )
    seen: list[Look] = []
    run_now(bench, {"test": looks(seen)})
    [look] = seen
    assert (look.org_id, look.environments, look.agent_ids) == (bench.org.id, ("prod",), ("a",))
    assert (look.ignore_error_types, look.sensitivity) == (("Expected",), "high")
    run = bench.last_run()
    assert (look.window.start, look.window.stop) == (run["window_from"], run["window_to"])
    assert look.total_sessions == run["stats"]["total_sessions"] == 2


def test_only_the_signals_that_an_audit_names_run_and_none_named_means_all(
    bench: AuditBench,
) -> None:
    every = {name: finding(name) for name in NAMES}
    bench.make(signals=["tool_loop", "error_cluster"])
    run_now(bench, every)
    assert bench.last_run()["stats"]["signals"].keys() == {"error_cluster", "tool_loop"}
    bench.sql("UPDATE audits SET signals = '{}' WHERE org_id = :org_id")
    run_now(bench, every)
    assert set(bench.last_run()["stats"]["signals"]) == set(NAMES)


def test_every_signal_that_there_is_runs_over_events(bench: AuditBench) -> None:
    bench.store("s1", "s2", error="refused", tool_name="t")
    bench.make()
    run_now(bench, SIGNALS)
    stats = bench.last_run()["stats"]
    assert set(stats["signals"]) == set(SIGNALS)
    assert stats["failed_signals"] == {}


def test_a_signal_that_fails_costs_its_own_findings_only(bench: AuditBench) -> None:
    bench.make()
    greedy = Unavailable("ClickHouse is busy")
    greedy.__cause__ = ServerException("", ErrorCodes.MEMORY_LIMIT_EXCEEDED)
    signals = {
        "slow": raising(QueryTimeout("the query ran longer than its limit")),
        "greedy": raising(greedy),
        "broken": raising(KeyError("secret")),
        "fine": finding("a"),
    }
    run_now(bench, signals)
    run = bench.last_run()
    assert (run["status"], run["findings_count"]) == ("succeeded", 1)
    assert run["stats"]["failed_signals"] == {
        "slow": "the query ran longer than its limit",
        "greedy": "it needs more memory than ClickHouse has",
        "broken": "it ended with an unexpected error",
    }


def test_a_run_whose_signals_all_fail_fails(bench: AuditBench) -> None:
    bench.make()
    run_now(bench, {"broken": raising(KeyError("secret"))})
    run = bench.last_run()
    assert (run["status"], run["error"]) == ("failed", "every signal failed")
    assert run["stats"]["failed_signals"].keys() == {"broken"}
    assert bench.audit()["last_error"] == "every signal failed"


def test_findings_that_cannot_be_filed_fail_the_run_and_leave_nothing(bench: AuditBench) -> None:
    def find(look: Look) -> list[Candidate]:
        return [candidate(look, "fine"), candidate(look, "odd", kind="nonsense")]

    bench.make()
    with capture_logs() as lines:
        run_now(bench, {"test": find})
    run = bench.last_run()
    assert (run["status"], run["error"]) == ("failed", "the run ended with an unexpected error")
    assert bench.findings() == []
    assert "audit_run_broke" in {line["event"] for line in lines}


def test_the_most_urgent_are_filed_and_found_again(bench: AuditBench) -> None:
    def find(look: Look) -> list[Candidate]:
        return [candidate(look, name, severity=name) for name in ("info", "critical", "warning")]

    bench.make(top_k=2)
    run_now(bench, {"test": find})
    run_now(bench, {"test": find})
    assert [one["severity"] for one in bench.findings()] == ["critical", "warning"]
    assert {(one["status"], one["occurrences"]) for one in bench.findings()} == {("recurring", 2)}
    counts = [(run["findings_count"], run["new_findings_count"]) for run in bench.runs()]
    assert counts == [(2, 2), (2, 0)]


def test_a_critical_finding_opens_an_incident_that_its_channels_hear_of(bench: AuditBench) -> None:
    channels = [{"kind": "dashboard"}]
    bench.make(name="nightly", channels=channels)
    found = finding("leak", severity="critical", affected_sessions=3)
    run_now(bench, {"test": found, "other": finding("dull")})
    run_now(bench, {"test": found})
    [incident] = bench.sql("SELECT * FROM incidents WHERE org_id = :org_id")
    [leak] = [one for one in bench.findings() if one["severity"] == "critical"]
    assert (incident["source"], incident["source_finding_id"]) == ("audit", leak["id"])
    assert (incident["title"], incident["alert_severity"]) == ("Errors: leak", "critical")
    assert incident["origin"] == {"id": str(bench.audit()["id"]), "name": "nightly"}
    assert (incident["alert_name"], incident["channels"]) == (None, channels)
    assert incident["breach_value"] == 3
    assert incident["breach_summary"].startswith("3 of 0 sessions: leak")
    assert incident["evidence"]["session_ids"] == ["s1"]
    assert incident["last_breach_at"] > incident["opened_at"]
    notifications = bench.sql("SELECT event, channel FROM notifications WHERE org_id = :org_id")
    assert [tuple(one.values()) for one in notifications] == [("alert.firing", "dashboard")]


@pytest.mark.parametrize("table", ["audits", "organizations"])
def test_findings_of_a_deleted_audit_are_dropped(bench: AuditBench, table: str) -> None:
    audit = bench.make()
    bench.schedule()

    def delete() -> None:
        if table == "audits":
            with bench.runtime.postgres.transaction() as session:
                service.delete(session, bench.org.uuid, str(audit.id))
        else:
            bench.sql("DELETE FROM organizations WHERE id = :org_id")

    found = finding("leak", severity="critical")
    assert bench.run({"test": meanwhile(delete, then=found)}) == 1
    for name in ("audits", "audit_runs", "findings", "incidents"):
        assert bench.sql(f"SELECT 1 FROM {name} WHERE org_id = :org_id") == []


def test_a_store_that_is_away_puts_a_run_off_and_uses_no_attempt_up(bench: AuditBench) -> None:
    bench.make()
    bench.schedule()
    for _ in range(5):
        bench.run({"test": raising(Unavailable("ClickHouse is away"))})
        assert bench.run() == 0
        bench.end_lease()
    waiting = bench.last_run()
    assert (waiting["status"], waiting["attempts"]) == ("running", 0)
    bench.run()
    run = bench.last_run()
    assert (run["status"], run["attempts"]) == ("succeeded", 1)
    assert (run["window_from"], run["window_to"]) == (waiting["window_from"], waiting["window_to"])


def test_a_run_that_is_put_off_for_too_long_fails(bench: AuditBench) -> None:
    bench.make()
    bench.schedule()
    away = {"test": raising(Unavailable("ClickHouse is away"))}
    bench.run(away)
    bench.sql(
        "UPDATE audit_runs SET started_at = started_at - interval '7 h' WHERE org_id = :org_id"
    )
    bench.end_lease()
    bench.run(away)
    run = bench.last_run()
    assert (run["status"], run["error"]) == ("failed", "a store was unavailable for too long")
