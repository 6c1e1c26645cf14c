"""The actor of repricings; the work is in `shared.upkeep.repricings`."""

from shared.foundation.queue.jobs import REPRICE_CALLS
from shared.upkeep.repricings import due
from shared.upkeep.repricings.running import Repricings
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(REPRICE_CALLS, next_due=due.of_repricings)
def reprice_calls() -> None:
    """Goes on with the repricings that people asked for."""
    Repricings(runtime(), stopping).run()
