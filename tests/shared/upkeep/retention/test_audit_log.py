"""Old lines of the audit log are deleted, by the days of each organization."""

import threading

from sqlalchemy import select, text

from shared.access.audit_log import record
from shared.access.audit_log.models import AuditLine
from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.retention import audit_log
from tests.support.runtime import Org, make_org

_LINE = text("""
INSERT INTO audit_log (id, org_id, at, actor_kind, actor, way, noun, action, target_id)
VALUES (gen_random_uuid(), :org_id, now() - make_interval(days => :days), 'system', '', 'system',
    'key', 'key.create', :days)
""")


def ages(runtime: Runtime, org: Org | None) -> list[str | None]:
    with runtime.postgres.transaction() as session:
        query = select(AuditLine.target_id).where(
            AuditLine.org_id == (None if org is None else org.uuid), AuditLine.noun == "key"
        )
        return sorted(session.scalars(query), key=str)


def test_each_organization_keeps_its_days(runtime: Runtime, org: Org) -> None:
    other = make_org(runtime)
    with at_once(runtime.postgres, runtime.redis) as session:
        editor = Editor("test", None)
        settings.replace(session, runtime.settings, org.uuid, audit_log.KEY, 90, editor)
    with runtime.postgres.transaction() as session:
        for org_id in (org.uuid, other.uuid, None):
            for days in (0, 89, 91, 729, 731):
                session.execute(_LINE, {"org_id": org_id, "days": days})
        record(session, org.uuid, "key.create", target="new")
    assert audit_log.apply(runtime.postgres, runtime.settings, threading.Event()) == 4
    assert ages(runtime, org) == ["0", "89", "new"]
    assert ages(runtime, other) == ["0", "729", "89", "91"]
    assert ages(runtime, None) == ["0", "729", "731", "89", "91"], "the operator's log is kept"
    assert audit_log.apply(runtime.postgres, runtime.settings, threading.Event()) == 0
