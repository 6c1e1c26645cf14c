"""The time of the next evaluation of a rule. Pure.

The due times of an organization's rules lie on a grid. Rules with the same interval are due
together, and so are rules whose interval divides theirs, so that few statements evaluate many
rules. The grid's offset depends on the organization, which spreads organizations over the interval.
"""

import uuid
from datetime import datetime, timedelta

from shared.foundation.core.clock import from_us, to_us

# A rule that was evaluated late, or out of turn because it is new or changed, is evaluated again at
# the next moment of the grid. If that is nearer than this share of its interval, the rule is
# evaluated a little later instead.
NEAREST = 1 / 3
# While events cannot be stored, an organization's windows do not move. A window counts again only
# after it has moved by this share of the interval.
MOVED_ON = 0.25


def next_due(
    org_id: uuid.UUID, interval_secs: int, evaluated_at: datetime, *, is_behind: bool = False
) -> datetime:
    """Returns the next moment of the organization's grid, at most an interval later.

    A rule that `is_behind` is due `NEAREST` of an interval later, on the grid or not, until it has
    caught up.
    """
    nearest = evaluated_at + timedelta(seconds=interval_secs * NEAREST)
    if is_behind:
        return nearest
    interval_us = interval_secs * 1_000_000
    after = to_us(evaluated_at) + 1
    on_grid = after + (org_id.int % interval_us - after) % interval_us
    return max(from_us(on_grid), nearest)
