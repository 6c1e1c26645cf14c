"""Takes due mails from the outbox one by one and sends them; many processes may do so at once."""

import re
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import jinja2
from sqlalchemy.orm import Session

from shared.access.mail import claims
from shared.access.mail.claims import Forgotten, Outcome
from shared.access.mail.kinds import KINDS
from shared.access.mail.message import Unaddressable, compose
from shared.access.mail.models import Mail
from shared.access.mail.rendering import render
from shared.foundation.core.attempts import Again, Failed, Sent, backoff, jitter
from shared.foundation.core.clock import now
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.core.metrics.catalogue import MAILS
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import SEND_MAIL
from shared.foundation.queue.work_loop import claimed
from workers.mail.smtp import DEFAULT_LIMITS, NotSent, Refused, SmtpClient

log = get_logger(__name__)

# A lease outlasts the longest exchange by this much: the preparation before it and the record
# after.
LEASE_SLACK_SECS = 60.0

BACKOFF_BASE_SECS = 10.0
BACKOFF_CAP_SECS = 3600.0

# Creates the values that a kind's `made_when_sent` names, in a transaction that commits before the
# mail is sent; returns None if the recipient is to get no such mail.
Prepare = Callable[[Session, str], Mapping[str, Any] | None]

# Copies a mail's state to the thing it is about, in the transaction that changed it.
Note = Callable[[Session, uuid.UUID], None]


class MailSender:
    """The sender of a process; `prepare` has an entry for each kind with values made at sending.

    `note` has an entry for each kind whose outcome is also recorded elsewhere. `client` is None
    without SMTP_HOST; `stopping` ends a turn after the current mail.
    """

    def __init__(
        self,
        runtime: Runtime,
        prepare: Mapping[str, Prepare],
        client: SmtpClient | None,
        stopping: threading.Event,
        note: Mapping[str, Note] = MappingProxyType({}),
    ) -> None:
        self._runtime = runtime
        self._prepare = prepare
        self._note = note
        self._client = client
        self._stopping = stopping
        limits = DEFAULT_LIMITS if client is None else client.limits
        self._lease_secs = limits.exchange_secs + LEASE_SLACK_SECS
        if client is None:
            log.warning(
                "smtp_host_is_not_set",
                consequence="sign-in codes go to this log, so use this only for development;"
                " other mails fail",
            )

    def run(self) -> int:
        """Sends until nothing is due or the turn is over; returns the number of mails."""
        self._expire()
        due = claimed(self._runtime.queue, SEND_MAIL, self._claim, self._stopping)
        return sum(1 for _ in map(self._handle, due))

    def _claim(self) -> Mail | None:
        with self._runtime.postgres.transaction() as session:
            return claims.claim(session, lease_secs=self._lease_secs)

    def _expire(self) -> None:
        with self._runtime.postgres.transaction() as session:
            expired = claims.expire(session)
            for mail in expired:
                self._note_outcome(session, mail.kind, mail.id)
        for mail in expired:
            MAILS.add(1, "expired")
            with request_context(mail.request_id, mail_id=str(mail.id)):
                log.info("mail_step", kind=mail.kind, step="expired", error=mail.last_error)

    def _handle(self, mail: Mail) -> None:
        with (
            spans.work(SEND_MAIL.actor),
            request_context(mail.request_id, mail_id=str(mail.id)),
        ):
            outcome = self._attempt(mail)
            with self._runtime.postgres.transaction() as session:
                claims.record(session, mail, outcome)
                self._note_outcome(session, mail.kind, mail.id)
            MAILS.add(1, type(outcome).__name__.lower())
            log.info(
                "mail_step",
                kind=mail.kind,
                step=type(outcome).__name__.lower(),
                attempt=mail.attempts,
                error=outcome.error if isinstance(outcome, Again | Failed) else None,
            )

    def _note_outcome(self, session: Session, kind: str, mail_id: uuid.UUID) -> None:
        if kind in self._note:
            self._note[kind](session, mail_id)

    def _attempt(self, mail: Mail) -> Outcome:
        kind = KINDS.get(mail.kind)
        if kind is None:
            return Failed(f"this version knows no mail of the kind {mail.kind!r}")
        if not kind.made_when_sent:
            return self._send(mail, {})
        with self._runtime.postgres.transaction() as session:
            made = self._prepare[mail.kind](session, mail.recipient)
        return Forgotten() if made is None else self._send(mail, made)

    def _send(self, mail: Mail, made: Mapping[str, Any]) -> Outcome:
        settings = self._runtime.settings
        if self._client is None or settings.smtp_from is None:
            return _without_mail_server(mail, made)
        values = {**mail.context, **made}
        try:
            content = render(mail.kind, mail.recipient, values, public_url=settings.public_url)
            message = compose(
                mail.id,
                content,
                sender=settings.smtp_from,
                recipient=mail.recipient,
                at=now(),
            )
            self._client.send(message, mail.recipient)
        except (jinja2.TemplateError, Unaddressable, Refused) as error:
            return Failed(_shown(error, mail, made.values()))
        except NotSent as error:
            wait = backoff(
                mail.attempts, jitter(), base_secs=BACKOFF_BASE_SECS, cap_secs=BACKOFF_CAP_SECS
            )
            return Again(_shown(error, mail, made.values()), wait)
        return Sent()


def _without_mail_server(mail: Mail, made: Mapping[str, Any]) -> Outcome:
    if not made:
        return Failed("SMTP_HOST is not set")
    # The log would mask the name `code`.
    shown = {f"mailed_{name}": value for name, value in made.items()}
    log.warning("smtp_host_is_not_set_so_this_is_no_secret", recipient=mail.recipient, **shown)
    return Sent()


def _shown(error: Exception, mail: Mail, made: Iterable[object]) -> str:
    """Returns the error for operators in a short line, without the recipient's secrets.

    It also leaves out the address, which servers like to quote: the log has more readers than the
    outbox.
    """
    text = re.sub(re.escape(mail.recipient), "[recipient]", str(error), flags=re.IGNORECASE)
    for value in made:
        if isinstance(value, str):
            text = text.replace(value, "[hidden]")
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[: claims.MAX_ERROR_CHARS]
