"""Announces incidents: one row per delivery, in the transaction of the announced change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.access import mail
from shared.access.mail import administration
from shared.access.organizations.models import Organization
from shared.foundation.core.config import Settings
from shared.foundation.core.ids import new_id, new_request_id
from shared.foundation.core.logs import current_request_id
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import after_commit
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import SEND_MAIL, SEND_NOTIFICATIONS
from shared.watch.incidents import rows as incidents
from shared.watch.incidents.deliveries import mails, slack, webhook
from shared.watch.incidents.deliveries.models import Notification
from shared.watch.incidents.deliveries.news import Event, News, of_incident
from shared.watch.incidents.deliveries.targets import DeliveryTarget, targets_of
from shared.watch.incidents.models import Incident

# No attempt over HTTP begins later than this, nor does one by mail (`shared.access.mail.kinds`).
MAX_AGE = timedelta(days=1)
# The mails of all organizations share one queue; this limits the share of one organization.
MAX_WAITING_MAILS = 2000
# The content of a request, by the channel. Workers sign those to webhooks.
CONTENTS: Mapping[str, Callable[[News, UUID], dict[str, Any]]] = {
    "slack": lambda news, _delivery_id: slack.content(news),
    "webhook": webhook.content,
}


def announce(
    session: Session, runtime: Runtime, incident: Incident, event: Event
) -> list[Notification]:
    """Announces `event` to the incident's channels; returns a row for each delivery.

    Workers deliver by mail and over HTTP after the commit, with the settings and the incident as of
    now. A delivery that cannot be sent is a row as well, `skipped` with the reason.
    """
    slug = session.get_one(Organization, incident.org_id).slug
    news = of_incident(incident, event, org_slug=slug, public_url=runtime.settings.public_url)
    return deliver(session, runtime, news, incident.channels)


def deliver(
    session: Session, runtime: Runtime, news: News, channels: Sequence[Mapping[str, Any]]
) -> list[Notification]:
    """Does the same as `announce` for any news and any channels."""
    config = runtime.settings
    targets = targets_of(session, config, news.org_id, channels)
    targets = _within_room(session, config, news.org_id, targets)
    rows = [_row(session, runtime.queue, news, target) for target in targets]
    # Mails first: rows refer to them, and a flush orders unrelated classes by name.
    session.flush()
    session.add_all(rows)
    session.flush()
    if any(row.url_setting_key is not None for row in rows):
        after_commit(session, lambda: runtime.queue.nudge_soon(SEND_NOTIFICATIONS))
    return rows


def list_(session: Session, org_id: UUID, incident_id: UUID) -> list[Notification]:
    """Lists every delivery about an incident, oldest first."""
    query = select(Notification).where(
        Notification.org_id == org_id, Notification.incident_id == incident_id
    )
    return list(session.scalars(query.order_by(Notification.created_at, Notification.id)))


def send_again(
    session: Session, runtime: Runtime, org_id: UUID, incident_id: str
) -> list[Notification]:
    """Queues the failed deliveries about an incident again, with as much time as new ones.

    Returns every delivery about it. Raises `NotFound`, and `RateLimited` if mails are among them
    and the organization has sent its mails of a day.
    """
    found = incidents.get(session, org_id, incident_id)
    deliveries = list_(session, org_id, found.id)
    failed = [one for one in deliveries if one.status == "failed"]
    mails_again = [one.mail_id for one in failed if one.mail_id is not None]
    if mails_again:
        mail.quota.require_left(session, runtime.settings, org_id)
        administration.retry(session, mails_again)
        after_commit(session, lambda: runtime.queue.nudge_soon(SEND_MAIL))
    for one in failed:
        if one.mail_id is None and one.url_setting_key is None:
            continue
        one.status, one.attempts, one.error, one.finished_at = "queued", 0, None, None
        if one.url_setting_key is not None:
            one.next_attempt_at = func.clock_timestamp()
            one.expires_at = func.clock_timestamp() + MAX_AGE
    session.flush()
    if failed:
        after_commit(session, lambda: runtime.queue.nudge_soon(SEND_NOTIFICATIONS))
    return list_(session, org_id, found.id)


def _within_room(
    session: Session, config: Settings, org_id: UUID, targets: list[DeliveryTarget]
) -> list[DeliveryTarget]:
    """Returns the targets; skips mails beyond the number that may wait, or be sent in a day."""
    if not any(_is_mail(target) for target in targets):
        return targets
    waiting = select(func.count()).where(
        Notification.org_id == org_id,
        Notification.status == "queued",
        Notification.mail_id.is_not(None),
    )
    room = MAX_WAITING_MAILS - (session.scalar(waiting) or 0)
    why = f"{MAX_WAITING_MAILS} mails of the organization are already waiting"
    if (of_day := mail.quota.left(session, config, org_id)) < room:
        room = of_day
        why = f"the organization has sent its {config.org_mails_per_day} mails of 24 hours"
    within = []
    for target in targets:
        room -= _is_mail(target)
        within.append(replace(target, skipped=why) if _is_mail(target) and room < 0 else target)
    return within


def _is_mail(target: DeliveryTarget) -> bool:
    return target.channel == "email" and target.skipped is None


def _row(session: Session, queue: Queue, news: News, target: DeliveryTarget) -> Notification:
    row = Notification(
        id=new_id(),
        org_id=news.org_id,
        incident_id=news.incident_id if news.stored else None,
        channel=target.channel,
        target=target.target,
        event=news.event,
        content={},
        status="queued",
        request_id=current_request_id() or new_request_id(),
    )
    if target.skipped is not None:
        row.status, row.error = "skipped", target.skipped
        row.finished_at = func.clock_timestamp()
    elif target.channel == "email":
        org_name = session.get_one(Organization, news.org_id).name
        row.mail_id = mail.enqueue(session, queue, mails.letter(news, org_name, target.target))
    elif target.url_setting_key is None:
        # The dashboard shows it as soon as it is stored.
        row.status, row.finished_at = "sent", func.clock_timestamp()
    else:
        row.content = CONTENTS[target.channel](news, row.id)
        row.url_setting_key = target.url_setting_key
        row.secret_setting_key = target.secret_setting_key
        row.next_attempt_at = func.clock_timestamp()
        row.expires_at = func.clock_timestamp() + MAX_AGE
    return row
