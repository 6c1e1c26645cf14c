"""The mail worker as the Procfile starts it, killed in the middle of its work."""

import pytest

from tests.support.mails import Outbox
from tests.support.processes import running, wait_until
from tests.support.smtp import Conversation, Smtp

GUESTS = [f"guest{number}@example.net" for number in range(50)]

pytestmark = pytest.mark.flow


def test_every_mail_arrives_although_the_worker_is_killed(outbox: Outbox, smtp: Smtp) -> None:
    held = []

    def hold(conversation: Conversation) -> None:
        held.append(conversation)
        smtp.stopping.wait(60)

    # Half of the mails arrive. Then the server is slow, and the worker dies.
    smtp.script = [{} for _ in GUESTS[:25]]
    smtp.default = {"BODY": hold}
    for guest in GUESTS:
        outbox.add(recipient=guest)
    settings = outbox.runtime.settings
    with running("workers.clock", settings=settings):
        with running("workers.main", "mail", settings=settings) as worker:
            wait_until(lambda: len(held) == 2)
            worker.kill()
        assert len(smtp.messages) == 25
        smtp.default = {}
        assert {row["status"] for row in outbox.rows()} == {"sent", "queued"}
        # The dead worker's mails are due when their lease ends.
        outbox.sql("UPDATE mails SET next_attempt_at = now() WHERE status = 'queued'")
        with running("workers.main", "mail", settings=settings):
            wait_until(lambda: {mail.recipient for mail in smtp.messages} == set(GUESTS))
            wait_until(lambda: {row["status"] for row in outbox.rows()} == {"sent"})


def test_without_a_mail_server_the_worker_starts_and_says_so(outbox: Outbox) -> None:
    outbox.configure(smtp_host=None)
    outbox.add()
    settings = outbox.runtime.settings
    with (
        running("workers.clock", settings=settings),
        running("workers.main", "mail", settings=settings),
    ):
        wait_until(lambda: outbox.row()["status"] == "failed")
    assert outbox.row()["last_error"] == "SMTP_HOST is not set"
