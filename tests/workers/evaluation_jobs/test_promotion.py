"""Sessions that get an automatic job, and its time."""

from datetime import timedelta

from sqlalchemy import RowMapping

from shared.evaluation.evaluation_jobs.watching import StoredSession, watch
from tests.support.events import event, store_events
from tests.support.jobs import Bench
from tests.support.runtime import make_org

HOUR = 3600


def test_a_session_is_due_once_its_root_agent_ended_and_it_was_quiet_for_two_seconds(
    bench: Bench,
) -> None:
    bench.store("s", "agent_start", "tool_use", "agent_end", environment="staging", agent_id="a")
    assert _quiet_planned(bench) == timedelta(seconds=2)
    _promoted_at_its_time(bench)
    job = bench.job()
    assert (job["session_id"], job["agent_id"], job["environment"]) == ("s", "a", "staging")
    assert (job["trigger"], job["status"], job["attempt_count"]) == ("agent_end", "pending", 0)


def test_every_further_event_restarts_the_quiet_time(bench: Bench) -> None:
    bench.store("s", "agent_start", "agent_end")
    [first] = _watched(bench)
    bench.pass_time(1.9)
    bench.watch("s", has_end=False)
    [row] = _watched(bench)
    assert row["last_arrival_at"] > first["last_arrival_at"]
    assert _quiet_planned(bench) == timedelta(seconds=2)
    _promoted_at_its_time(bench)


def test_sixty_seconds_after_the_end_the_wait_for_quiet_is_over(bench: Bench) -> None:
    bench.store("s", "agent_start", "agent_end")
    for _ in range(39):
        bench.pass_time(1.5)
        bench.watch("s", has_end=False)
    [row] = _watched(bench)
    assert row["check_at"] - row["waiting_since"] == timedelta(seconds=60)
    bench.pass_time(-HOUR)
    assert bench.promote() == 0
    bench.pass_time(HOUR + 1.5)
    bench.watch("s", has_end=False)
    assert bench.promote() == 1


def test_the_end_of_another_agent_is_none(bench: Bench) -> None:
    bench.store("s", "agent_start", "tool_use", agent_id="root")
    bench.store("s", "agent_start", "agent_end", agent_id="helper")
    bench.pass_time(120)
    assert bench.promote() == 0
    bench.store("s", "tool_use", "agent_end", agent_id="root")
    bench.pass_time(3)
    assert bench.promote() == 1
    assert bench.job()["agent_id"] == "root"


def test_an_end_counts_when_its_agent_turns_out_to_be_the_root(bench: Bench) -> None:
    first = event("s", "10:00:00", "tool_use", agent_id="a")
    end = event("s", "10:00:05", "agent_end", agent_id="b")
    store_events(bench.runtime.clickhouse, bench.org.id, [first, end])
    bench.watch("s", has_end=True)
    bench.pass_time(3)
    assert bench.promote() == 0
    start = event("s", "10:00:01", "agent_start", agent_id="b")
    store_events(bench.runtime.clickhouse, bench.org.id, [start])
    bench.watch("s", has_end=False)
    bench.pass_time(3)
    assert bench.promote() == 1
    assert bench.job()["agent_id"] == "b"


def test_without_an_agent_start_the_first_events_agent_is_the_root(bench: Bench) -> None:
    bench.store("s", "tool_use", "agent_end", agent_id="a")
    bench.pass_time(3)
    assert bench.promote() == 1


def test_resent_events_create_no_second_job(bench: Bench) -> None:
    bench.enqueue("s")
    bench.run()
    for _ in range(2):
        bench.store("s", "agent_start", "agent_end")
        bench.pass_time(120)
        bench.config(inactivity_timeout_secs=1.0)
        assert bench.promote() == 0
    assert len(bench.jobs()) == 1


def test_the_automatic_job_stays_unique_even_if_the_session_is_forgotten(bench: Bench) -> None:
    bench.enqueue("s")
    bench.run()
    bench.sql("DELETE FROM watched_sessions WHERE org_id = :org_id")
    bench.store("s", "agent_start", "agent_end")
    bench.pass_time(3)
    assert bench.promote() == 0
    assert [row["evaluated"] for row in _watched(bench)] == [True]


def test_nothing_is_created_for_what_arrived_while_the_evaluator_was_off(bench: Bench) -> None:
    bench.configure(evaluator_endpoint=None)
    bench.store("s", "agent_start", "agent_end")
    assert _watched(bench) == []
    bench.configure()
    bench.config(inactivity_timeout_secs=1.0)
    bench.pass_time(3600)
    assert bench.promote() == 0


def test_nothing_is_created_while_the_evaluator_is_off(bench: Bench) -> None:
    bench.store("s", "agent_start", "agent_end")
    bench.pass_time(120)
    bench.configure(evaluator_endpoint=None)
    assert bench.promote() == 0
    assert bench.jobs() == []


def test_evaluator_orgs_leaves_organizations_out(bench: Bench) -> None:
    bench.configure(evaluator_orgs="some-other, and-another")
    bench.store("s", "agent_start", "agent_end")
    assert _watched(bench) == []
    bench.configure(evaluator_orgs=f"some-other , {bench.org.slug}")
    bench.store("s", "agent_start", "agent_end")
    bench.pass_time(3)
    assert bench.promote() == 1


def test_an_organization_left_out_meanwhile_gets_no_job(bench: Bench) -> None:
    bench.store("s", "agent_start", "agent_end")
    bench.store("t", "agent_start")
    bench.pass_time(120)
    bench.configure(evaluator_orgs="some-other")
    bench.config(inactivity_timeout_secs=1.0)
    assert bench.promote() == 0
    bench.configure()
    assert bench.promote() == 0


def test_a_deleted_organization_gets_no_job(bench: Bench) -> None:
    bench.store("s", "agent_start", "agent_end")
    bench.pass_time(3)
    bench.sql("UPDATE organizations SET deleted_at = now() WHERE id = :org_id")
    assert bench.promote() == 0
    bench.watch("t", has_end=True)
    assert "t" not in {row["session_id"] for row in _watched(bench)}


def test_inactivity_needs_a_timeout_of_the_evaluator(bench: Bench) -> None:
    bench.store("s", "agent_start", "tool_use")
    bench.pass_time(24 * 3600)
    assert bench.promote() == 0
    bench.config(inactivity_timeout_secs=30.0)
    assert bench.promote() == 1
    assert (bench.job()["trigger"], bench.job()["agent_id"]) == ("inactivity", "main")


def test_inactivity_counts_from_the_newest_arrival(bench: Bench) -> None:
    bench.config(inactivity_timeout_secs=3000.0)
    bench.store("s", "agent_start")
    bench.pass_time(2900)
    bench.watch("s", has_end=False)
    bench.pass_time(2900)
    assert bench.promote() == 0
    bench.pass_time(100)
    assert bench.promote() == 1


def test_a_session_that_was_evaluated_for_inactivity_gets_no_job_for_its_end(bench: Bench) -> None:
    bench.config(inactivity_timeout_secs=30.0)
    bench.store("s", "agent_start")
    bench.pass_time(31)
    assert bench.promote() == 1
    bench.run()
    bench.store("s", "agent_start", "agent_end")
    bench.pass_time(120)
    assert bench.promote() == 0


def test_a_live_manual_job_only_delays_the_automatic_one(bench: Bench) -> None:
    bench.store("s", "agent_start", "agent_end")
    bench.sql(
        "INSERT INTO evaluation_jobs (id, org_id, session_id, agent_id, environment, trigger,"
        " request_id, enqueued_at, next_attempt_at)"
        " VALUES (gen_random_uuid(), :org_id, 's', 'main', 'default', 'manual', 'r', now(), now())"
    )
    bench.config(inactivity_timeout_secs=1.0)
    bench.pass_time(3)
    assert bench.promote() == 0
    bench.run()
    bench.pass_time(3)
    assert bench.promote() == 1
    bench.run()
    assert [job["trigger"] for job in bench.jobs()] == ["manual", "agent_end"]
    assert len(bench.results()) == 2


def test_a_watched_session_without_events_is_forgotten(bench: Bench) -> None:
    bench.config(inactivity_timeout_secs=30.0)
    bench.watch("s", has_end=True)
    bench.pass_time(31)
    assert bench.promote() == 0
    assert _watched(bench) == []


def test_one_block_may_name_a_session_twice(bench: Bench) -> None:
    stored = [
        StoredSession(bench.org.uuid, bench.org.slug, "s", has_agent_end=end)
        for end in (False, True, False)
    ]
    with bench.runtime.postgres.transaction() as session:
        watch(session, bench.runtime.settings, stored)
    [row] = _watched(bench)
    assert row["end_seen"] is True


def test_several_organizations_are_promoted_at_once(bench: Bench) -> None:
    other = make_org(bench.runtime)
    bench.configure(evaluator_orgs=f"{bench.org.slug},{other.slug}")
    others = Bench(bench.runtime, other, bench.evaluator)
    bench.store("s", "agent_start", "agent_end")
    others.store("s", "agent_start", "agent_end", agent_id="else")
    bench.pass_time(3)
    others.pass_time(3)
    assert bench.promote() == 2
    assert (bench.job()["agent_id"], others.job()["agent_id"]) == ("main", "else")
    others.clean_up()


def _quiet_planned(bench: Bench) -> timedelta:
    """Returns how long the only session has to be quiet until it is checked."""
    [row] = _watched(bench)
    quiet: timedelta = row["check_at"] - row["last_arrival_at"]
    return quiet


def _promoted_at_its_time(bench: Bench) -> None:
    """Checks that the only session gets its job two seconds after its last arrival."""
    bench.pass_time(-HOUR)
    assert bench.promote() == 0
    bench.pass_time(HOUR + 2)
    assert bench.promote() == 1


def test_a_session_of_turns_is_evaluated_when_idle_and_not_at_the_end_of_its_root(
    bench: Bench,
) -> None:
    bench.store("s", "agent_start", "agent_end")
    bench.watch("s", has_end=True, idle_only=True)
    bench.pass_time(59)
    assert bench.promote() == 0
    # The next turn restarts the time, and its hint is not needed again.
    bench.watch("s", has_end=True)
    bench.pass_time(59)
    assert bench.promote() == 0
    bench.pass_time(1)
    assert bench.promote() == 1
    assert bench.job()["trigger"] == "inactivity"


def test_a_session_of_turns_has_the_timeout_that_the_evaluator_names(bench: Bench) -> None:
    bench.config(inactivity_timeout_secs=300.0)
    bench.store("s", "agent_start", "agent_end")
    bench.watch("s", has_end=True, idle_only=True)
    bench.pass_time(299)
    assert bench.promote() == 0
    bench.pass_time(1)
    assert bench.promote() == 1


def test_without_a_timeout_of_the_evaluator_only_sessions_of_turns_become_idle(
    bench: Bench,
) -> None:
    bench.store("s", "agent_start", "tool_use")
    bench.store("t", "agent_start", "tool_use")
    bench.watch("t", has_end=False, idle_only=True)
    bench.pass_time(HOUR)
    assert bench.promote() == 1
    assert bench.job()["session_id"] == "t"


def _watched(bench: Bench) -> list[RowMapping]:
    return list(bench.sql("SELECT * FROM watched_sessions WHERE org_id = :org_id"))
