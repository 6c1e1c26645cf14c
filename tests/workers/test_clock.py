"""The table of tasks, and the moments at which the clock wakes them."""

from collections import Counter

import pytest

from shared.deployment.runtime import Runtime
from shared.queue import Task, jobs
from shared.queue.wakeups import MOMENTS
from tests.support.processes import running, wait_until
from workers.clock import BEATS, WAIT_SECS, wake

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
