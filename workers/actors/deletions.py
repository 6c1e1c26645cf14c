"""The actor of deletions; the work is in `shared.upkeep.deletions`."""

from shared.foundation.queue.jobs import DELETE_DATA
from shared.upkeep.deletions import due
from shared.upkeep.deletions.running import Deletions
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(DELETE_DATA, next_due=due.of_deletions)
def delete_data() -> None:
    """Goes on with the deletions that people asked for."""
    Deletions(runtime(), stopping).run()
