"""The errors that a transaction raises for PostgreSQL's refusals."""

import pytest
from sqlalchemy import text

from shared.core.errors import NotFound
from shared.core.ids import new_id, new_request_id
from shared.deployment.runtime import Runtime
from shared.evaluation_jobs.enqueue import NewJob, enqueue_manual
from shared.keys import service as keys
from shared.keys.rules import new_secret
from shared.keys.service import NewKey
from shared.permissions import FOR_KEYS
from tests.support.runtime import Org


def test_writing_for_an_organization_that_is_gone(runtime: Runtime, org: Org) -> None:
    """A cached identity outlives its organization for a moment."""
    with runtime.postgres.transaction() as session:
        session.execute(text("DELETE FROM organizations WHERE id = :id"), {"id": org.uuid})
    with pytest.raises(NotFound, match="organization"), runtime.postgres.transaction() as session:
        keys.create(session, org.uuid, NewKey("a", new_secret()), granter=FOR_KEYS)
    with pytest.raises(NotFound, match="organization"), runtime.postgres.transaction() as session:
        enqueue_manual(session, NewJob(org.uuid, str(new_id()), "a", "e"), new_request_id())
