"""Deletions under test: requests one, and carries it out turn by turn."""

import threading
import uuid

from sqlalchemy import select, text

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.upkeep.deletions import service
from shared.upkeep.deletions.models import Deletion
from shared.upkeep.deletions.running import Deletions
from shared.upkeep.deletions.target import DeletionTarget
from tests.support.processes import wait_until
from tests.support.runtime import Org


def drain(runtime: Runtime) -> None:
    """Stores the events that wait."""
    while Drain(runtime, "deletions", IngestRulesCache(runtime)).run():
        pass


def request(runtime: Runtime, org: Org, target: DeletionTarget) -> uuid.UUID:
    """Requests a deletion and returns its id."""
    with runtime.postgres.transaction() as session:
        return service.request(session, runtime.queue, org.uuid, target, "t").id


def delete(runtime: Runtime, org: Org, target: DeletionTarget) -> Deletion:
    """Requests a deletion and carries it out until nothing can be read."""
    made = request(runtime, org, target)
    wait_until(lambda: turn(runtime, org, made) in ("rewritten", "done", "failed"))
    return read(runtime, made)


def run(runtime: Runtime, org: Org) -> None:
    """Works at the organization's deletions as far as possible now."""
    Deletions(runtime, threading.Event(), org_id=org.uuid).run()


def turn(runtime: Runtime, org: Org, deletion_id: uuid.UUID) -> str:
    """Works for a turn, as a worker does after the wait, and returns the state."""
    drain(runtime)
    with runtime.postgres.transaction() as session:
        session.execute(
            text("UPDATE deletions SET lease_expires_at = NULL WHERE org_id = :org_id"),
            {"org_id": org.uuid},
        )
    run(runtime, org)
    return read(runtime, deletion_id).state


def read(runtime: Runtime, deletion_id: uuid.UUID) -> Deletion:
    """Returns a deletion as it is now."""
    with runtime.postgres.transaction() as session:
        return session.scalars(select(Deletion).where(Deletion.id == deletion_id)).one()
