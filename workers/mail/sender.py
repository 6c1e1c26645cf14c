"""Takes due mails from the outbox one by one and sends them; many may do so at once."""

import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jinja2
from sqlalchemy.orm import Session

from shared.core.clock import now
from shared.core.logs import get_logger, request_context
from shared.deployment.runtime import Runtime
from shared.mail import claims
from shared.mail.claims import Claim
from shared.mail.jobs import SEND_MAIL
from shared.mail.kinds import KINDS
from shared.mail.message import Unaddressable, compose
from shared.mail.rendering import render
from shared.mail.rules import backoff
from workers.mail.smtp import DEFAULT_LIMITS, NotSent, Refused, SmtpClient

log = get_logger(__name__)

# A thread returns to its queue after this long, so that a message never runs for hours.
TURN_SECS = 30.0

# A lease outlasts the longest exchange by this much: the preparation before it, the record after.
LEASE_SLACK_SECS = 60.0

# Makes what a kind's `made_when_sent` names, in a transaction of its own that commits before the
# mail is sent; None when the recipient is to get no such mail after all.
Prepare = Callable[[Session, str], Mapping[str, Any] | None]

# Copies what a mail's row says to whatever the mail is about, in the transaction that wrote it.
Note = Callable[[Session, uuid.UUID], None]


@dataclass(frozen=True)
class Sent:
    """The mail server has it."""


@dataclass(frozen=True)
class Again:
    """It is to be tried again."""

    error: str


@dataclass(frozen=True)
class Failed:
    """It will not be sent."""

    error: str


@dataclass(frozen=True)
class Forgotten:
    """Nobody is to get it; no trace is kept."""


Outcome = Sent | Again | Failed | Forgotten


class Sender:
    """One process's sender; `prepare` has an entry for each kind that makes something when sent.

    `note` has one for each kind whose outcome is told elsewhere, too. `client` is None without
    SMTP_HOST; `stopping` ends a turn after the mail in hand.
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
                consequence="sign-in codes go to this log, which only a development system may do;"
                " other mails fail",
            )

    def run(self) -> int:
        """Sends until nothing is due or the turn is over; returns how many mails it took."""
        self._expire()
        began = time.monotonic()
        handled = 0
        while not self._stopping.is_set():
            with self._runtime.postgres.transaction() as session:
                claim = claims.claim(session, lease_secs=self._lease_secs)
            if claim is None:
                break
            over = time.monotonic() - began > TURN_SECS
            if handled == 0 or over:
                # Another thread looks whether there is more; on and on, until there is not.
                self._runtime.queue.nudge_soon(SEND_MAIL)
            self._handle(claim)
            handled += 1
            if over:
                break
        return handled

    def _expire(self) -> None:
        with self._runtime.postgres.transaction() as session:
            expired = claims.expire(session)
            for mail in expired:
                self._note_outcome(session, mail.kind, mail.mail_id)
        for mail in expired:
            with request_context(mail.request_id, mail_id=str(mail.mail_id)):
                log.info("mail_step", kind=mail.kind, step="expired", error=mail.error)

    def _handle(self, claim: Claim) -> None:
        with request_context(claim.request_id, mail_id=str(claim.mail_id)):
            outcome = self._attempt(claim)
            with self._runtime.postgres.transaction() as session:
                _record(session, claim, outcome)
                self._note_outcome(session, claim.kind, claim.mail_id)
            log.info(
                "mail_step",
                kind=claim.kind,
                step=type(outcome).__name__.lower(),
                attempt=claim.attempt,
                error=outcome.error if isinstance(outcome, Again | Failed) else None,
            )

    def _note_outcome(self, session: Session, kind: str, mail_id: uuid.UUID) -> None:
        if kind in self._note:
            self._note[kind](session, mail_id)

    def _attempt(self, claim: Claim) -> Outcome:
        kind = KINDS.get(claim.kind)
        if kind is None:
            return Failed(f"this version knows no mail of the kind {claim.kind!r}")
        if not kind.made_when_sent:
            return self._send(claim, {})
        with self._runtime.postgres.transaction() as session:
            made = self._prepare[claim.kind](session, claim.recipient)
        return Forgotten() if made is None else self._send(claim, made)

    def _send(self, claim: Claim, made: Mapping[str, Any]) -> Outcome:
        settings = self._runtime.settings
        if self._client is None or settings.smtp_from is None:
            return _without_mail_server(claim, made)
        values = {**claim.context, **made}
        try:
            content = render(claim.kind, claim.recipient, values, public_url=settings.public_url)
            message = compose(
                claim.mail_id,
                content,
                sender=settings.smtp_from,
                recipient=claim.recipient,
                at=now(),
            )
            self._client.send(message, claim.recipient)
        except (jinja2.TemplateError, Unaddressable, Refused) as error:
            return Failed(_shown(error, claim, made.values()))
        except NotSent as error:
            return Again(_shown(error, claim, made.values()))
        return Sent()


def _without_mail_server(claim: Claim, made: Mapping[str, Any]) -> Outcome:
    if not made:
        return Failed("SMTP_HOST is not set")
    # `code` is a name that the log would mask.
    shown = {f"mailed_{name}": value for name, value in made.items()}
    log.warning("smtp_host_is_not_set_so_this_is_no_secret", recipient=claim.recipient, **shown)
    return Sent()


def _shown(error: Exception, claim: Claim, made: Iterable[object]) -> str:
    """The error for operators: a line, bounded, without what only the recipient may know.

    Nor with the address, which servers like to quote: the log has more readers than the outbox.
    """
    text = re.sub(re.escape(claim.recipient), "[recipient]", str(error), flags=re.IGNORECASE)
    for value in made:
        if isinstance(value, str):
            text = text.replace(value, "[hidden]")
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[: claims.MAX_ERROR_CHARS]


def _record(session: Session, claim: Claim, outcome: Outcome) -> None:
    if isinstance(outcome, Sent):
        claims.sent(session, claim)
    elif isinstance(outcome, Again):
        wait = backoff(claim.attempt, random.random())  # noqa: S311 jitter is no secret
        claims.again(session, claim, outcome.error, after_secs=wait)
    elif isinstance(outcome, Failed):
        claims.failed(session, claim, outcome.error)
    else:
        claims.forget(session, claim)
