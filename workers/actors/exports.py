"""The actor of scheduled exports; the work is in `shared.reading.exports.schedules`."""

from shared.foundation.queue.jobs import WRITE_EXPORTS
from shared.reading.exports.schedules import due
from shared.reading.exports.schedules.running import Exports
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(WRITE_EXPORTS, next_due=due.of_exports)
def write_exports() -> None:
    """Brings the files of organizations with scheduled exports up to date."""
    Exports(runtime(), stopping).run()
