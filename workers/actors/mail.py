"""Actors of mail; the work is in `workers.mail` and `shared.access.mail`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from shared.access.mail import administration, due
from shared.access.users.sign_in import codes, guesses
from shared.foundation.queue import jobs
from shared.watch.incidents.deliveries import mails as notifications
from workers.context import once, runtime
from workers.mail.sender import MailSender
from workers.mail.smtp import SmtpClient
from workers.nudged import nudged_actor, stopping


def _new_code(session: Session, recipient: str) -> Mapping[str, Any] | None:
    issued = codes.issue(session, runtime().settings, recipient)
    return None if issued is None else asdict(issued)


def _tell_of_guesses(session: Session, recipient: str) -> Mapping[str, Any] | None:
    return guesses.tell(session, runtime().settings, recipient)


@once
def _sender() -> MailSender:
    settings = runtime().settings
    client = None if settings.smtp_host is None else SmtpClient(settings)
    note = {notifications.KIND: notifications.copy_outcome}
    prepare = {"code": _new_code, "codes_guessed": _tell_of_guesses}
    return MailSender(runtime(), prepare, client, stopping, note)


@nudged_actor(jobs.SEND_MAIL, next_due=due.of_mails)
def send_mail() -> None:
    """Sends the mails that are due."""
    _sender().run()


@nudged_actor(jobs.TIDY_MAILS)
def tidy_mails() -> None:
    """Deletes mails that ended long ago."""
    with runtime().postgres.transaction() as session:
        administration.tidy(session)
