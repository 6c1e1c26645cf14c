"""Deletes lines of the audit log that are older than `retention.audit_log_days`.

The operator's own log, which belongs to no organization, is kept.
"""

import threading

from sqlalchemy import select, text

from shared.access.organizations import Organization
from shared.access.settings import reading as settings
from shared.foundation.core.config import Settings
from shared.foundation.core.logs import get_logger
from shared.foundation.postgres import Postgres

log = get_logger(__name__)

KEY = "retention.audit_log_days"

# Few enough to keep every statement far below its limit of 30 s.
_BATCH_LINES = 5000

_DELETE = text("""
DELETE FROM audit_log WHERE id = ANY(ARRAY(
    SELECT id FROM audit_log
    WHERE org_id = :org_id AND at < statement_timestamp() - make_interval(days => :days)
    LIMIT :limit))
RETURNING id
""")


def apply(postgres: Postgres, config: Settings, stopping: threading.Event) -> int:
    """Deletes old lines of all organizations and returns their number; ends early on a stop."""
    with postgres.transaction() as session:
        org_ids = session.scalars(select(Organization.id)).all()
        days = settings.values(session, config, org_ids, KEY)
    removed = 0
    for org_id in org_ids:
        wanted = {"org_id": org_id, "days": days[org_id], "limit": _BATCH_LINES}
        rows = _BATCH_LINES
        while rows == _BATCH_LINES and not stopping.is_set():
            with postgres.transaction() as session:
                rows = len(session.execute(_DELETE, wanted).all())
            removed += rows
    if removed:
        log.info("audit_log_retention_applied", lines=removed)
    return removed
