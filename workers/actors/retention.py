"""The actor of retention; the work is in `shared.upkeep.retention`."""

from shared.core import clock
from shared.upkeep import retention
from shared.upkeep.retention.jobs import APPLY_RETENTION
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(APPLY_RETENTION)
def apply_retention() -> None:
    """Removes data that organizations no longer want to keep."""
    retention.apply(runtime(), stopping, clock.now())
