"""The outbox under test: adds mails, sends them on demand, and reads rows back."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from sqlalchemy import RowMapping, text
from sqlalchemy.orm import Session

from shared.access.mail import Letter, enqueue
from shared.foundation.deployment.runtime import Runtime
from shared.watch.incidents.deliveries import mails as notifications
from tests.support.runtime import Org
from tests.support.smtp import Smtp
from workers.mail.sender import MailSender
from workers.mail.smtp import SmtpClient, SmtpLimits

TO = "ann@example.net"


@dataclass
class Outbox:
    """An outbox, a mail server, and a sender that runs on demand.

    `codes` are handed out one per mail. An address that is not among `members` gets none.
    """

    runtime: Runtime
    org: Org
    smtp: Smtp
    limits: SmtpLimits = field(default_factory=SmtpLimits)
    codes: list[str] = field(default_factory=lambda: ["100001", "100002", "100003"])
    members: set[str] = field(default_factory=lambda: {TO})

    def __post_init__(self) -> None:
        self.configure(**self.smtp.settings(public_url="https://watch.example.org"))

    def configure(self, **settings: Any) -> None:
        """Sets variables for later calls."""
        self.runtime = replace(
            self.runtime, settings=msgspec.structs.replace(self.runtime.settings, **settings)
        )

    def add(self, kind: str = "invitation", recipient: str = TO, **context: object) -> None:
        """Enqueues a mail; an invitation by default."""
        if kind == "invitation":
            context = {"org_name": "Acme", "invited_by": "bob@example.net", **context}
        letter = Letter(kind=kind, recipient=recipient, org_id=self.org.uuid, context=context)
        with self.runtime.postgres.transaction() as session:
            enqueue(session, self.runtime.queue, letter)

    def run(self) -> int:
        """Sends the due mails. Returns the number of mails taken."""
        if self.runtime.settings.smtp_host is None:
            return self._run(None)
        with closing(SmtpClient(self.runtime.settings, limits=self.limits)) as client:
            return self._run(client)

    def run_later(self) -> int:
        """Ends every wait and every lease, then calls `run`."""
        self.sql("UPDATE mails SET next_attempt_at = now() WHERE status = 'queued'")
        return self.run()

    def pass_time(self, seconds: float) -> None:
        """Moves all times in the rows further into the past."""
        columns = ("next_attempt_at", "expires_at", "created_at", "finished_at")
        moved = ", ".join(f"{name} = {name} - make_interval(secs => :by)" for name in columns)
        self.sql(f"UPDATE mails SET {moved} WHERE org_id = :org_id", by=seconds)

    def rows(self) -> Sequence[RowMapping]:
        """Returns the organization's mails, oldest first, with the seconds to the next attempt."""
        return self.sql(
            "SELECT *, extract(epoch FROM next_attempt_at - now())::float AS wait"
            " FROM mails WHERE org_id = :org_id ORDER BY created_at"
        )

    def row(self) -> RowMapping:
        """Returns the only mail."""
        [only] = self.rows()
        return only

    def sql(self, statement: str, **params: object) -> Sequence[RowMapping]:
        """Runs SQL with `:org_id` bound."""
        with self.runtime.postgres.transaction() as session:
            result = session.connection().execute(
                text(statement), {"org_id": self.org.uuid, **params}
            )
            return result.mappings().all() if result.returns_rows else []

    def _run(self, client: SmtpClient | None) -> int:
        note = {notifications.KIND: notifications.copy_outcome}
        prepare = {"code": self._code, "codes_guessed": _not_a_member}
        return MailSender(self.runtime, prepare, client, threading.Event(), note).run()

    def _code(self, _session: Session, email: str) -> Mapping[str, object] | None:
        if email not in self.members:
            return None
        return {"code": self.codes.pop(0), "ttl_secs": 600}


def _not_a_member(_session: Session, _email: str) -> None:
    """Prepares no mail for an address of an earlier test, whose mails may still wait."""
