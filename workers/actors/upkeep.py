"""Actors that remove old data; the work is in `shared.upkeep` and `shared.access.users.sign_in`."""

from shared.access.users.sign_in import service
from shared.foundation.core import clock
from shared.foundation.queue.jobs import APPLY_RETENTION, SWEEP_PURGED, TIDY_AUDIT_LOG, TIDY_SIGN_IN
from shared.upkeep.purge import late
from shared.upkeep.retention import audit_log
from shared.upkeep.retention import service as retention
from workers.context import runtime
from workers.nudged import nudged_actor, stopping


@nudged_actor(APPLY_RETENTION)
def apply_retention() -> None:
    """Removes data that organizations no longer want to keep."""
    retention.apply(runtime(), stopping, clock.now())


@nudged_actor(SWEEP_PURGED)
def sweep_purged() -> None:
    """Removes what reached Redis after the purge of its organization."""
    late.sweep(runtime().postgres, runtime().redis)


@nudged_actor(TIDY_AUDIT_LOG)
def tidy_audit_log() -> None:
    """Deletes lines of the audit log that are older than the organization's setting."""
    audit_log.apply(runtime().postgres, runtime().settings, stopping)


@nudged_actor(TIDY_SIGN_IN)
def tidy_sign_in() -> None:
    """Deletes expired codes and sessions."""
    with runtime().postgres.transaction() as session:
        service.tidy(session)
