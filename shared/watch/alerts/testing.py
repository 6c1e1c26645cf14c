"""Tests of an alert's channels: real deliveries about an incident that does not exist."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from shared.access.mail import quota
from shared.access.organizations.models import Organization
from shared.foundation.core import pages
from shared.foundation.core.clock import now
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import QueryPlaces, QuerySlots
from shared.watch.alerts.models import Alert
from shared.watch.incidents.deliveries.models import Notification
from shared.watch.incidents.deliveries.news import News
from shared.watch.incidents.deliveries.service import deliver
from shared.watch.incidents.opening import origin_of

# Longer than a receiver may take to answer (`workers.deliveries.client.DEADLINE_SECS`).
WAIT_SECS = 12.0
_LOOK_SECS = 0.1
# A test occupies a thread of the web process while it waits.
PLACES = QueryPlaces("alert-tests", 4, what="tests")


@dataclass(frozen=True)
class TestResult:
    """The incident id that the deliveries used, and the state of each delivery."""

    synthetic_incident_id: uuid.UUID
    deliveries: list[Notification]

    @property
    def ok(self) -> bool:
        """Whether everything was sent."""
        return all(delivery.status == "sent" for delivery in self.deliveries)


def send_test(
    runtime: Runtime,
    org_id: uuid.UUID,
    alert: Alert,
    channels: Sequence[Mapping[str, Any]],
    *,
    wait_secs: float = WAIT_SECS,
) -> TestResult:
    """Sends `alert.test` to these channels and waits until each delivery is finished.

    A delivery that takes longer than `wait_secs` is returned as `queued`. A test over HTTP is tried
    once, by mail as often as any mail. Raises `RateLimited` while four tests of the organization
    are running, and once it has sent its mails of a day.
    """
    with QuerySlots(runtime.redis, runtime.clickhouse, PLACES).hold(str(org_id)):
        with runtime.postgres.transaction() as session:
            if any(one.get("kind") == "email" for one in channels):
                quota.require_left(session, runtime.settings, org_id)
            slug = session.get_one(Organization, org_id).slug
            news = _news(alert, pages.alert(slug, alert.id), runtime.settings.public_url)
            ids = [row.id for row in deliver(session, runtime, news, channels)]
        ends = time.monotonic() + wait_secs
        while True:
            found = _deliveries(runtime, org_id, ids)
            if all(one.status != "queued" for one in found) or time.monotonic() >= ends:
                return TestResult(news.incident_id, found)
            time.sleep(_LOOK_SECS)


def _news(alert: Alert, page: str, public_url: str | None) -> News:
    return News(
        event="alert.test",
        org_id=alert.org_id,
        incident_id=new_id(),
        stored=False,
        page=page,
        page_url=pages.url(public_url, page),
        url=None,
        opened_at=now(),
        title=alert.name,
        origin=origin_of(alert.id, alert.name, alert.description),
        severity=alert.severity,
        value=None,
        summary="This is a test of the alert's channels; nothing has happened.",
        evidence=None,
    )


def _deliveries(
    runtime: Runtime, org_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> list[Notification]:
    query = select(Notification).where(Notification.org_id == org_id, Notification.id.in_(ids))
    with runtime.postgres.transaction() as session:
        rows = {row.id: row for row in session.scalars(query)}
    return [rows[one] for one in ids if one in rows]
