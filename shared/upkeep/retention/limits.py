"""The age limits of data, by organization."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from shared.access.organizations import CANARY_ID, Organization
from shared.access.settings import reading as settings
from shared.foundation.core import clock
from shared.foundation.core.config import Settings
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import Postgres

KEY = "retention.events_days"
# Nobody reads a canary later than a minute after it was sent.
_CANARY_DAYS = 1
_SOON = timedelta(minutes=10)


@dataclass(frozen=True)
class RetentionLimit:
    """A limit: rows from before `before`, a midnight (UTC), are old in these organizations."""

    before: datetime
    days: int
    org_ids: tuple[str, ...]


def limits(postgres: Postgres, config: Settings, now: datetime) -> list[RetentionLimit]:
    """Returns the limits of all organizations that have one, one for each number of days.

    Limits are whole days, so that rows are removed once a day and not all the time. Deleted
    organizations are included: promises about their data hold until the purge. An organization that
    is being purged or changed is left out, because its row is locked.
    """
    with postgres.transaction() as session:
        query = select(Organization.id).order_by(Organization.id)
        org_ids = session.scalars(query.with_for_update(read=True, skip_locked=True)).all()
        by_days = defaultdict(list)
        for org_id, days in settings.values(session, config, org_ids, KEY).items():
            if isinstance(days, int) and days > 0 and org_id != CANARY_ID:
                by_days[days].append(str(org_id))
        if CANARY_ID in org_ids:
            by_days[_CANARY_DAYS].append(str(CANARY_ID))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return [
        RetentionLimit(midnight - timedelta(days=days), days, tuple(found))
        for days, found in sorted(by_days.items())
    ]


def kept_from(runtime: Runtime, org_id: uuid.UUID) -> datetime | None:
    """Returns the moment from which rows of an organization are kept; None for all.

    Near midnight it is that of the next day: what may be removed at any moment counts as gone.
    """
    with runtime.postgres.transaction() as session:
        days = settings.values(session, runtime.settings, [org_id], KEY)[org_id]
    if not isinstance(days, int) or days <= 0:
        return None
    soon = clock.now() + _SOON
    return soon.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)


def days_of(found: Sequence[RetentionLimit]) -> dict[str, int]:
    """Returns the number of days by organization."""
    return {org_id: limit.days for limit in found for org_id in limit.org_ids}
