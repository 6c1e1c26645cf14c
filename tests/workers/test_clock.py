"""The table of tasks, and the moments at which the clock wakes them."""

from collections import Counter
from contextlib import ExitStack

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import Task, jobs
from shared.foundation.queue.wakeups import MOMENTS
from tests.support.processes import running, wait_until
from workers.clock import BEATS, LOCK_ID, WAIT_SECS, Leadership, wake

TASK = jobs.TIDY_MAILS


def test_a_task_is_listed_once() -> None:
    """Of two intervals of one task the first would apply, whatever the second is."""
    assert Counter(beat.task.actor for beat in BEATS).most_common(1)[0][1] == 1


def test_the_clock_looks_at_every_task() -> None:
    assert {beat.task for beat in BEATS} == {
        task for task in vars(jobs).values() if isinstance(task, Task)
    }


def test_a_task_is_nudged_when_its_moment_has_come(runtime: Runtime) -> None:
    forget(runtime)
    runtime.queue.nudge_in(TASK, 60.0)
    assert wake(runtime.queue) == WAIT_SECS
    assert waiting(runtime) == 0
    runtime.queue.nudge_in(TASK, 0.0)
    wake(runtime.queue)
    assert waiting(runtime) == 1


def test_a_moment_of_a_newer_release_is_passed_over(runtime: Runtime) -> None:
    forget(runtime)
    runtime.queue.nudge_in(Task("of_tomorrow", "mail"), 0.0)
    assert wake(runtime.queue) == WAIT_SECS
    assert waiting(runtime) == 0


@pytest.mark.flow
def test_the_clock_waits_for_a_moment(runtime: Runtime) -> None:
    forget(runtime)
    with running("workers.clock", settings=runtime.settings):
        wait_until(lambda: waiting(runtime) == 1)  # Its first look nudges every task.
        forget(runtime)
        runtime.queue.nudge_in(TASK, 1.0)
        wait_until(lambda: waiting(runtime) == 1)
        assert runtime.redis.zscore(MOMENTS, TASK.actor) is None


def waiting(runtime: Runtime) -> int:
    """Returns how many messages of the task wait."""
    messages = runtime.redis.hvals(f"dramatiq:{TASK.queue}.msgs")
    return sum(f'"{TASK.actor}"'.encode() in message for message in messages)


def forget(runtime: Runtime) -> None:
    """Removes the messages and the mark of the task, and every moment."""
    runtime.broker.flush(TASK.queue)
    runtime.redis.delete(f"nudge:{TASK.actor}", MOMENTS)


def leaders(session: Session) -> list[tuple[int, str]]:
    """Returns the process and the state of each connection that has the clock's lock."""
    rows = session.execute(
        text(
            "SELECT pid, state FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE locktype = 'advisory' AND objid = :id AND granted"
            " AND pg_stat_activity.datname = current_database()"
        ),
        {"id": LOCK_ID},
    )
    return [(row.pid, row.state) for row in rows]


def test_one_of_two_clocks_leads_in_a_transaction(postgres_runtime: Runtime) -> None:
    """A pooler in transaction mode then keeps the connection to the server for the leader."""
    url = postgres_runtime.settings.database_url
    first, second = Leadership(url), Leadership(url)
    with ExitStack() as stack:
        stack.callback(first.release)
        stack.callback(second.release)
        assert [first.holds(), second.holds(), first.holds(), second.holds()] == [True, False] * 2
        with postgres_runtime.postgres.transaction() as session:
            [(leader, state)] = leaders(session)
            assert state == "idle in transaction"
            session.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": leader})
        assert not first.holds()
        wait_until(second.holds)
        assert not first.holds()
