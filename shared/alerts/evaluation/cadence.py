"""When a rule is evaluated next. Pure.

The moments of an organization's rules lie on a grid: all with the same interval come due together,
and those of an interval that divides theirs with them, so that few statements evaluate many. Where
the grid lies depends on the organization, which spreads organizations over the interval.
"""

import uuid
from datetime import datetime, timedelta

from shared.core.clock import from_us, to_us

# What was evaluated late, or out of turn because it is new or was changed, is evaluated again at
# the grid's next moment; where that is nearer than this share of its interval, a little after it.
NEAREST = 1 / 3
# While events cannot be stored an organization's windows stand still. What a window saw counts once
# more only when it has moved on by this share of the interval.
MOVED_ON = 0.25


def next_due(
    org_id: uuid.UUID, interval_secs: int, evaluated_at: datetime, *, is_behind: bool = False
) -> datetime:
    """The next moment of the organization's grid: an interval later at most.

    A rule that `is_behind` comes `NEAREST` later, on the grid or not, until it has caught up.
    """
    nearest = evaluated_at + timedelta(seconds=interval_secs * NEAREST)
    if is_behind:
        return nearest
    interval_us = interval_secs * 1_000_000
    after = to_us(evaluated_at) + 1
    on_grid = after + (org_id.int % interval_us - after) % interval_us
    return max(from_us(on_grid), nearest)
