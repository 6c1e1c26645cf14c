"""When a rule is evaluated next. Pure.

The moments of an organization's rules lie on a grid: all with the same interval come due together,
and those of an interval that divides theirs with them, so that few statements evaluate many. Where
the grid lies depends on the organization, which spreads organizations over the interval.
"""

import uuid
from datetime import datetime, timedelta

from shared.clock import from_us, to_us

# A rule is evaluated once an interval: what was evaluated late, or out of turn because it was
# changed, waits for the next moment that is at least this share of its interval away.
NEAREST = 0.5
# While events cannot be stored an organization's windows stand still. What a window saw counts once
# more only when it has moved on by this share of the interval.
MOVED_ON = 0.25


def next_due(org_id: uuid.UUID, interval_secs: int, evaluated_at: datetime) -> datetime:
    """The moment of the organization's grid that follows an evaluation."""
    interval_us = interval_secs * 1_000_000
    phase_us = org_id.int % interval_us
    earliest = to_us(evaluated_at + timedelta(seconds=interval_secs * NEAREST))
    return from_us(earliest + (phase_us - earliest) % interval_us)
