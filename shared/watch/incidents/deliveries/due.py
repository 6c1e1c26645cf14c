"""The time until the next delivery over HTTP is due, and how many wait."""

from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases
from shared.foundation.postgres.due import secs_until_due
from shared.watch.incidents.deliveries.claims import URL_KEYS

# One probe of the index for each lane.
_DELIVERIES = f"""
SELECT delivery.next_attempt_at
FROM organizations
CROSS JOIN unnest(CAST(:url_keys AS text[])) AS lane(url_key)
CROSS JOIN LATERAL (
    SELECT next_attempt_at FROM notifications
    WHERE org_id = organizations.id
        AND url_setting_key = lane.url_key
        AND status = 'queued'
        AND {leases.FREE}
    ORDER BY next_attempt_at
    LIMIT 1
) AS delivery
WHERE organizations.deleted_at IS NULL
UNION ALL
SELECT min(lease_expires_at) FROM notifications WHERE lease_expires_at > statement_timestamp()
"""


def of_deliveries(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a delivery is due; None if none waits."""
    return secs_until_due(session, _DELIVERIES, url_keys=URL_KEYS)


class DeliveryBacklog(NamedTuple):
    """The deliveries that wait, and the seconds for which one has been due at most."""

    queued: int
    longest_due_secs: float


_WAITING = text("""
SELECT count(*), greatest(extract(epoch FROM statement_timestamp() - min(next_attempt_at)), 0)
FROM notifications JOIN organizations ON organizations.id = notifications.org_id
WHERE status = 'queued' AND url_setting_key IS NOT NULL AND organizations.deleted_at IS NULL
""")


def waiting(session: Session) -> DeliveryBacklog:
    """Returns the waiting deliveries over HTTP of the deployment."""
    queued, longest = session.execute(_WAITING).one()
    return DeliveryBacklog(queued, float(longest or 0.0))
