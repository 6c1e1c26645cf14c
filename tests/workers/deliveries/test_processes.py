"""The workers as the Procfile starts them. One is killed in the middle of its work."""

import pytest

from tests.support import evaluator as behave
from tests.support.mails import Outbox
from tests.support.notifications import WEBHOOK, Desk
from tests.support.processes import running, wait_until
from tests.support.receivers import Receiver

pytestmark = pytest.mark.flow


def test_another_worker_sends_a_killed_ones_deliveries_under_the_same_id(
    desk: Desk, receiver: Receiver, outbox: Outbox
) -> None:
    desk.configure(**outbox.smtp.settings())
    receiver.script.append(behave.hang)
    desk.open(WEBHOOK, {"kind": "email", "recipients": ["ann@example.net"]})
    settings = desk.runtime.settings
    with (
        running("workers.clock", settings=settings),
        running("workers.main", "mail", settings=settings),
    ):
        with running("workers.main", "notifications", settings=settings) as worker:
            wait_until(lambda: len(receiver.deliveries) == 1)
            worker.kill()
        assert desk.rows()[0]["status"] == "queued"
        desk.now_due()
        with running("workers.main", "notifications", settings=settings):
            wait_until(lambda: {row["status"] for row in desk.rows()} == {"sent"})
    first, second = receiver.deliveries
    assert (first.id, first.body) == (second.id, second.body)
    assert [row["attempts"] for row in desk.rows()] == [2, 1]
    assert len(outbox.smtp.messages) == 1
