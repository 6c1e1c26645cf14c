"""Notifications by mail: the letter to one recipient, and the copy of its outcome."""

import uuid

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.access.mail import Letter
from shared.foundation.core.clock import format_ts
from shared.watch.incidents.deliveries.news import News

KIND = "alert_notification"

# An operator may queue a failed mail again, which may then be sent after all.
_COPY = text("""
UPDATE notifications
SET status = mails.status,
    attempts = mails.attempts,
    error = mails.last_error,
    finished_at = mails.finished_at
FROM mails
WHERE mails.id = :mail_id AND notifications.mail_id = mails.id
""")


def letter(news: News, org_name: str, recipient: str) -> Letter:
    """Creates the mail to one recipient."""
    context = {
        "org_name": org_name,
        "incident_id": str(news.incident_id) if news.stored else None,
        "page": news.page,
        "event": news.event,
        "headline": news.headline,
        "title": news.title,
        "severity": news.severity,
        "origin_name": news.origin_name,
        "value": news.value_text,
        "summary": news.summary,
        "description": news.description,
        "opened_at": format_ts(news.opened_at),
    }
    return Letter(kind=KIND, recipient=recipient, org_id=news.org_id, context=context)


def copy_outcome(session: Session, mail_id: uuid.UUID) -> None:
    """Copies the state of a mail to its notification, in the transaction that changed it."""
    session.execute(_COPY, {"mail_id": mail_id})
