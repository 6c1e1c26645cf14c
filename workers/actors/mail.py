"""Actors of mail; what they do is `workers.mail`'s and `shared.mail`'s."""

import functools
import threading

from shared.mail import administration, jobs
from workers.context import runtime
from workers.mail.sender import Sender
from workers.mail.smtp import SmtpClient
from workers.nudged import nudged_actor, stopping

_sender_lock = threading.Lock()


@functools.cache
def _only_sender() -> Sender:
    settings = runtime().settings
    client = None if settings.smtp_host is None else SmtpClient(settings)
    return Sender(runtime(), {}, client, stopping)


def _sender() -> Sender:
    with _sender_lock:
        return _only_sender()


@nudged_actor(jobs.SEND_MAIL)
def send_mail() -> None:
    """Sends the mails that are due."""
    sender = _sender()
    runtime().queue.nudged(jobs.SEND_MAIL)
    sender.run()


@nudged_actor(jobs.TIDY_MAILS)
def tidy_mails() -> None:
    """Deletes mails that were over long ago."""
    runtime().queue.nudged(jobs.TIDY_MAILS)
    with runtime().postgres.transaction() as session:
        administration.tidy(session)
