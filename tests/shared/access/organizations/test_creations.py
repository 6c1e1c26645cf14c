"""Creations are counted by organization, kind and time."""

from datetime import timedelta

from sqlalchemy import select

from shared.access.organizations.creations import created_in, record
from shared.access.organizations.models import Creation
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org, make_org

INSTANT = timedelta(microseconds=1)


def test_creations_count_where_and_when_they_were(runtime: Runtime, org: Org) -> None:
    other = make_org(runtime)
    with runtime.postgres.transaction() as session:
        for kind in ("query", "dashboard", "query"):
            record(session, org.uuid, kind)
        record(session, other.uuid, "query")
    with runtime.postgres.transaction() as session:
        moments = select(Creation.created_at).where(
            Creation.org_id == org.uuid, Creation.kind == "query"
        )
        first, last = sorted(session.scalars(moments))
        for start, end, count in (
            (first, last + INSTANT, 2),
            (first, last, 1),
            (first + INSTANT, last + INSTANT, 1),
            (last + INSTANT, last + timedelta(days=1), 0),
        ):
            assert created_in(session, org.uuid, "query", start, end) == count
        day = timedelta(days=1)
        assert created_in(session, org.uuid, "dashboard", first - day, last + day) == 1


def test_a_rolled_back_creation_does_not_count(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        record(session, org.uuid, "query")
        session.rollback()
    with runtime.postgres.transaction() as session:
        assert session.scalar(select(Creation.id).where(Creation.org_id == org.uuid)) is None
