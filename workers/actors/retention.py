"""The actor of retention; what it does is `shared.upkeep.retention`'s."""

from shared.core import clock
from shared.upkeep import retention
from shared.upkeep.retention.jobs import APPLY_RETENTION
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(APPLY_RETENTION)
def apply_retention() -> None:
    """Removes what organizations do not want to keep any longer."""
    retention.apply(runtime(), stopping, clock.now())
