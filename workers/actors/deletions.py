"""The actor of deletions; the work is in `shared.deletions`."""

from shared.deletions import due
from shared.deletions.running import Deletions
from shared.foundation.queue.jobs import DELETE_DATA
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(DELETE_DATA, next_due=due.of_deletions)
def delete_data() -> None:
    """Goes on with the deletions that people asked for."""
    Deletions(runtime(), stopping).run()
