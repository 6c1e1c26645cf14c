"""The table of what is triggered when."""

from collections import Counter

from workers.clock import BEATS


def test_a_task_is_listed_once() -> None:
    """Of two intervals of one task the first would count, whatever the second says."""
    assert Counter(beat.task.actor for beat in BEATS).most_common(1)[0][1] == 1
