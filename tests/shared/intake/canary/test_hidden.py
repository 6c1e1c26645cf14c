"""The canary's organization: nobody sees, names or changes it, and its key only adds events."""

import threading
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import func, select, text

from shared.access import organizations
from shared.access.keys.models import ApiKey
from shared.access.keys.rules import hash_secret
from shared.access.organizations import CANARY_ID, CANARY_SLUG, lifecycle
from shared.access.permissions import effective
from shared.evaluation.evaluation_jobs.models import WatchedSession
from shared.evaluation.evaluation_jobs.watching import StoredSession, watch
from shared.foundation.core.clock import now
from shared.foundation.core.errors import Invalid, NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.intake.canary.flight import Flight
from shared.intake.canary.key import CanaryKey
from shared.upkeep.retention.limits import limits
from tests.support.runtime import make_org


@pytest.fixture
def hatched(runtime: Runtime) -> Runtime:
    """Connections to stores that have the organization."""
    with runtime.postgres.transaction() as session:
        organizations.ensure_canary(session)
        organizations.ensure_canary(session)
    return runtime


def test_no_list_and_no_name_leads_to_it(hatched: Runtime) -> None:
    with hatched.postgres.transaction() as session:
        assert CANARY_ID not in {one.id for one in organizations.list_(session)}
        assert CANARY_ID not in {one.id for one in organizations.all_live(session)}
        assert organizations.get(session, CANARY_SLUG) is None
        for change in (lifecycle.require, lifecycle.delete, lifecycle.restore):
            with pytest.raises(NotFound):
                change(session, CANARY_SLUG)
        with pytest.raises(NotFound):
            lifecycle.rename(session, CANARY_SLUG, new_slug="mine")


def test_no_other_organization_can_have_its_slug(hatched: Runtime) -> None:
    org = make_org(hatched)
    with hatched.postgres.transaction() as session:
        with pytest.raises(Invalid):
            organizations.create(session, CANARY_SLUG)
        with pytest.raises(Invalid):
            lifecycle.rename(session, org.slug, new_slug=CANARY_SLUG)


def test_its_events_are_stored_and_kept_for_a_day(hatched: Runtime) -> None:
    with hatched.postgres.transaction() as session:
        assert organizations.hold(session, [CANARY_ID]) == {CANARY_ID}
    moment = now()
    found = limits(hatched.postgres, hatched.settings, moment)
    [mine] = [limit for limit in found if str(CANARY_ID) in limit.org_ids]
    assert mine.days == 1
    assert moment - timedelta(days=2) < mine.before <= moment


def test_its_sessions_are_not_evaluated(hatched: Runtime) -> None:
    other = make_org(hatched)
    settings = msgspec.structs.replace(hatched.settings, evaluator_endpoint="http://127.0.0.1:1")
    with hatched.postgres.transaction() as session:
        ids: list[UUID] = [CANARY_ID, other.uuid]
        watch(session, settings, [StoredSession(org, "s", "s", has_agent_end=True) for org in ids])
        watched = select(WatchedSession.org_id).where(WatchedSession.org_id.in_(ids))
        assert list(session.scalars(watched)) == [other.uuid]
        session.execute(
            text("DELETE FROM watched_sessions WHERE org_id = :org"), {"org": other.uuid}
        )


def test_its_key_can_add_events_and_nothing_else(hatched: Runtime) -> None:
    key, other = (CanaryKey(hatched.postgres, name) for name in ("this", "other"))
    secret = key.secret()
    assert key.secret() == secret
    other.secret()
    key.refuse()
    renewed = key.secret()
    assert renewed != secret
    with hatched.postgres.transaction() as session:
        mine = select(ApiKey).where(ApiKey.org_id == CANARY_ID, ApiKey.name == "canary this")
        [row] = session.scalars(mine)
        assert row.key_hash == hash_secret(renewed.encode())
        assert effective(row.permissions) == {"events:add"}
        assert row.expires_at is not None
        assert now() < row.expires_at < now() + timedelta(days=2)
        # A group that was killed leaves its key; the next one to renew its own removes it.
        names = ["canary other"]
        session.execute(
            text("UPDATE api_keys SET expires_at = now() WHERE name = ANY(:names)"),
            {"names": names},
        )
    key.remove()
    with hatched.postgres.transaction() as session:
        left = select(func.count()).where(ApiKey.name.in_(["canary this", "canary other"]))
        assert session.scalar(left) == 0


def test_a_canary_that_stops_leaves_nothing_behind(hatched: Runtime) -> None:
    stop = threading.Event()
    stop.set()
    Flight(hatched, "stopped", stop).run()
    assert not hatched.redis.hexists("canary", "stopped")
