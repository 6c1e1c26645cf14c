"""One session with the state of its evaluation."""

from uuid import UUID

from shared.evaluation.evaluation_jobs.state import situation
from shared.evaluation.evaluation_jobs.state.decision import StateSince, decide
from shared.foundation.core.errors import NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.listing import ListedSession, page
from shared.reading.sessions.selection import SessionFilters


def session_with_state(
    runtime: Runtime, org_id: UUID, org_slug: str, session_id: str
) -> tuple[ListedSession, StateSince]:
    """Returns a session as the list has it, and the state of its evaluation.

    Raises `NotFound` for an unknown session.
    """
    # PostgreSQL refuses some characters, which no stored session has in its id.
    if session_facts.find(runtime.clickhouse, str(org_id), session_id) is None:
        raise NotFound.named("session", session_id)
    # A job that ends now is read as live, or its result is already stored: none falls in between.
    with runtime.postgres.transaction() as session:
        found = situation.read(session, runtime.settings, org_id, session_id)
    wanted = SessionFilters(session_id=[session_id])
    listed = page(runtime.clickhouse, str(org_id), wanted, limit=1, cursor=None).rows
    if not listed:
        raise NotFound.named("session", session_id)
    [one] = listed
    state = decide(one.facts, one.latest_evaluation, found, runtime.settings, org_slug)
    return one, state
