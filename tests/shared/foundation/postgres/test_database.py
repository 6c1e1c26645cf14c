"""Transactions: the errors that they raise for PostgreSQL's refusals, and their connections."""

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from shared.access.keys import service as keys
from shared.access.keys.rules import new_secret
from shared.access.keys.service import NewKey
from shared.access.permissions import FOR_KEYS
from shared.evaluation.evaluation_jobs.enqueue import NewJob, enqueue_manual
from shared.foundation.core.errors import NotFound
from shared.foundation.core.ids import new_id, new_request_id
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org


def test_writing_for_an_organization_that_is_gone(runtime: Runtime, org: Org) -> None:
    """A cached identity outlives its organization for a moment."""
    with runtime.postgres.transaction() as session:
        session.execute(text("DELETE FROM organizations WHERE id = :id"), {"id": org.uuid})
    with pytest.raises(NotFound, match="organization"), runtime.postgres.transaction() as session:
        keys.create(session, org.uuid, NewKey("a", new_secret()), granter=FOR_KEYS)
    with pytest.raises(NotFound, match="organization"), runtime.postgres.transaction() as session:
        enqueue_manual(session, [NewJob(org.uuid, str(new_id()), "a", "e")], new_request_id())


def process_of(session: Session) -> int:
    """Returns the process of the server that serves a transaction."""
    pid: int = session.execute(select(func.pg_backend_pid())).scalar_one()
    return pid


def test_connections_that_only_a_burst_needed_stay_idle_and_end(runtime: Runtime) -> None:
    postgres = runtime.postgres
    with postgres.transaction() as first, postgres.transaction() as second:
        assert process_of(first) != process_of(second)
        assert first.execute(text("SHOW idle_session_timeout")).scalar_one() == "30s"
    used = set()
    for _ in range(3):
        with postgres.transaction() as session:
            used.add(process_of(session))
    assert len(used) == 1


def test_a_connection_that_the_server_ended_is_replaced(runtime: Runtime) -> None:
    postgres = runtime.postgres
    with postgres.transaction() as first, postgres.transaction() as second:
        idle, ending = process_of(first), process_of(second)
    with postgres.transaction() as session:
        ended = ({idle, ending} - {process_of(session)}).pop()
        session.execute(select(func.pg_terminate_backend(ended, 10_000)))
    with postgres.transaction() as first, postgres.transaction() as second:
        assert ended not in {process_of(first), process_of(second)}
