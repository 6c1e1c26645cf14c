"""The table of triggers and intervals."""

from collections import Counter

from workers.clock import BEATS


def test_a_task_is_listed_once() -> None:
    """Of two intervals of one task the first would apply, whatever the second is."""
    assert Counter(beat.task.actor for beat in BEATS).most_common(1)[0][1] == 1
