"""Claims of deliveries over HTTP under leases, and the records of their attempts.

The deliveries of an organization to one URL are a lane. Live leases are the requests in flight in
the whole deployment, so a lane whose receiver hangs occupies only `LANE_PLACES` places. A killed
worker frees its places when its leases expire. Its deliveries are then due again, under the same
id: each delivery arrives at least once.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, and_, func, text, update
from sqlalchemy.orm import Session

from shared.access.settings import reading as settings
from shared.access.settings.catalogue import CATALOGUE
from shared.access.settings.rules import masked_url
from shared.foundation.core.attempts import Again, Sent
from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases, lock_until_commit
from shared.foundation.postgres.leases import RowLease
from shared.watch.incidents.deliveries.models import Notification
from shared.watch.incidents.deliveries.rules import Attempt, Step

LANE_PLACES = 4

URL_KEYS = [setting.key for setting in CATALOGUE.values() if setting.kind == "url"]


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery that this worker holds; `row` is the delivery as it was claimed.

    `url` and `secret` are the current settings, "" if there is none.
    """

    lease: RowLease
    row: Notification
    attempt: Attempt
    url_setting_key: str
    url: str
    secret: str

    @property
    def target(self) -> str:
        """The target in a form that anybody may see."""
        return masked_url(self.url)


# One probe of the index for each lane, however many deliveries are due. The lane with the fewest
# requests in flight is next, and among those the one whose delivery has waited longest.
_NEXT = text(f"""
WITH held AS (
    SELECT org_id, url_setting_key, count(*) AS places
    FROM notifications
    WHERE lease_expires_at > statement_timestamp()
    GROUP BY org_id, url_setting_key
), busy AS (
    SELECT org_id, sum(places) AS places FROM held GROUP BY org_id
), due AS (
    SELECT
        delivery.id,
        delivery.next_attempt_at,
        coalesce(busy.places, 0)
            + row_number() OVER (PARTITION BY organizations.id ORDER BY delivery.next_attempt_at)
            AS turn
    FROM organizations
    LEFT JOIN busy ON busy.org_id = organizations.id
    CROSS JOIN unnest(CAST(:url_keys AS text[])) AS lane(url_key)
    LEFT JOIN held ON held.org_id = organizations.id AND held.url_setting_key = lane.url_key
    CROSS JOIN LATERAL (
        SELECT id, next_attempt_at
        FROM notifications
        WHERE org_id = organizations.id
            AND url_setting_key = lane.url_key
            AND status = 'queued'
            AND next_attempt_at <= statement_timestamp()
            AND expires_at > statement_timestamp()
            AND {leases.FREE}
        ORDER BY next_attempt_at
        LIMIT greatest(:lane_places - coalesce(held.places, 0), 0)
    ) AS delivery
    WHERE organizations.deleted_at IS NULL
)
SELECT id FROM due ORDER BY turn, next_attempt_at LIMIT :most
""")

_SECS_LEFT = func.extract("epoch", Notification.expires_at - func.statement_timestamp())

_EXPIRE = text(f"""
UPDATE notifications
SET status = 'failed',
    finished_at = statement_timestamp(),
    error = concat_ws(': ', 'too late', error),
    lease_token = NULL,
    lease_expires_at = NULL
WHERE status = 'queued'
    AND url_setting_key IS NOT NULL
    AND expires_at <= statement_timestamp()
    AND {leases.FREE}
RETURNING id
""")

_TIDY = text("""
DELETE FROM notifications
WHERE incident_id IS NULL AND created_at < now() - make_interval(days => :days)
RETURNING id
""")

KEEP_TESTS_DAYS = 1


def claim(
    session: Session, config: Settings, *, most: int, lease_secs: float
) -> list[ClaimedDelivery]:
    """Takes up to `most` due deliveries for `lease_secs`.

    The advisory lock lets one worker at a time count the places of a lane and take some.
    """
    lock_until_commit(session, "claims of deliveries")
    wanted = {"url_keys": URL_KEYS, "lane_places": LANE_PLACES, "most": most}
    ids = list(session.scalars(_NEXT, wanted))
    if not ids:
        return []
    due = and_(Notification.id.in_(ids), Notification.status == "queued")
    columns, attempts = (Notification, _SECS_LEFT), Notification.attempts + 1
    lease, rows = leases.take(session, Notification, due, lease_secs, columns, attempts=attempts)
    return _with_settings(session, config, rows, lease)


def expire(session: Session) -> list[uuid.UUID]:
    """Ends deliveries for which no attempt may begin any more; returns their ids."""
    return list(session.scalars(_EXPIRE))


def record(session: Session, delivery: ClaimedDelivery, step: Step) -> None:
    """Records the outcome of an attempt; after a lost lease, only that it was sent."""
    now = func.statement_timestamp()
    target = func.coalesce(func.nullif(delivery.target, ""), Notification.target)
    if isinstance(step, Sent):
        # Even after the lease: another worker that holds it may send it once more, and finds it
        # sent.
        query = update(Notification).where(
            Notification.id == delivery.row.id, Notification.status == "queued"
        )
        sent = {"status": "sent", "finished_at": now, "error": None, "target": target}
        session.execute(query.values(**sent, lease_token=None, lease_expires_at=None))
    elif isinstance(step, Again):
        next_at = leases.in_secs(step.after_secs)
        delivery.lease.end(session, next_attempt_at=next_at, error=step.error, target=target)
    else:
        delivery.lease.end(
            session, status="failed", finished_at=now, error=step.error, target=target
        )


def tidy(session: Session) -> int:
    """Deletes tests from more than a day ago, which belong to no incident; returns the number."""
    return len(session.execute(_TIDY, {"days": KEEP_TESTS_DAYS}).all())


def _with_settings(
    session: Session, config: Settings, rows: Sequence[Row[*tuple[Any, ...]]], lease: RowLease
) -> list[ClaimedDelivery]:
    org_ids = {row.org_id for row, _ in rows}
    keys = {key for row, _ in rows for key in (row.url_setting_key, row.secret_setting_key)}
    values = {
        key: settings.values(session, config, org_ids, key) for key in keys if key is not None
    }

    def value(row: Notification, key: str | None) -> str:
        return "" if key is None else str(values[key][row.org_id])

    return [
        ClaimedDelivery(
            lease=replace(lease, rows=Notification.id == row.id),
            row=row,
            attempt=Attempt(row.event, row.attempts, float(secs_left)),
            url_setting_key=row.url_setting_key,
            url=value(row, row.url_setting_key),
            secret=value(row, row.secret_setting_key),
        )
        for row, secs_left in rows
    ]
