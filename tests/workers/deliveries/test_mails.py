"""Notifications by mail: their content, and the state of their rows."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.foundation.core.errors import RateLimited
from shared.watch.alerts import testing
from shared.watch.incidents.deliveries import service
from tests.support.mails import Outbox
from tests.support.notifications import DASHBOARD, WEBHOOK, Desk
from tests.support.processes import wait_until
from tests.support.receivers import Receiver
from tests.support.smtp import Smtp

ANN: Mapping[str, Any] = {"kind": "email", "recipients": ["ann@example.net"]}


def outcome(desk: Desk) -> tuple[object, ...]:
    row = desk.row()
    return row["status"], row["attempts"], row["error"]


def test_a_recipient_reads_what_happened(desk: Desk, outbox: Outbox, smtp: Smtp) -> None:
    incident = desk.open(ANN)
    desk.resolve(incident)
    outbox.run()
    firing, resolved = smtp.messages
    assert firing.recipient == "ann@example.net"
    assert firing.message["Subject"] == "[critical] Too many errors"
    for told in (
        "needs attention",
        "Too many errors",
        "error_rate 0.25 > 0.2",
        "Severity: critical",
        "Raised by: Error rate",
        "Value: 0.25",
        str(incident.id),
        f"https://watch.example.org/o/{desk.org.slug}/incidents/{incident.id}",
    ):
        assert told in firing.text
    assert resolved.message["Subject"] == "[critical] Resolved: Too many errors"
    assert "is resolved" in resolved.text


def test_a_mail_that_is_sent_makes_its_notification_sent(desk: Desk, outbox: Outbox) -> None:
    desk.open(ANN)
    outbox.run()
    assert outcome(desk) == ("sent", 1, None)
    assert desk.row()["finished_at"] is not None


def test_the_mail_servers_answer_shows_while_it_is_retried(
    desk: Desk, outbox: Outbox, smtp: Smtp
) -> None:
    smtp.script = [{"RCPT": "451 later"}]
    desk.open(ANN)
    outbox.run()
    assert outcome(desk) == ("queued", 1, "the mail server answered 451 later")
    outbox.run_later()
    assert outcome(desk) == ("sent", 2, None)


def test_a_mail_that_the_server_refuses_fails(desk: Desk, outbox: Outbox, smtp: Smtp) -> None:
    smtp.script = [{"RCPT": "550 nobody here"}]
    desk.open(ANN)
    outbox.run()
    assert outcome(desk) == ("failed", 1, "the mail server answered 550 nobody here")


def test_a_failed_mail_is_sent_again(desk: Desk, outbox: Outbox, smtp: Smtp) -> None:
    smtp.script = [{"RCPT": "550 nobody here"}]
    incident = desk.open(ANN)
    outbox.run()
    with desk.runtime.postgres.transaction() as session:
        service.send_again(session, desk.runtime, desk.org.uuid, str(incident.id))
    assert outcome(desk) == ("queued", 0, None)
    outbox.run()
    assert outcome(desk) == ("sent", 1, None)


def test_without_a_mail_server_it_has_failed_and_says_why(desk: Desk, outbox: Outbox) -> None:
    outbox.configure(smtp_host=None)
    desk.open(ANN)
    outbox.run()
    assert outcome(desk) == ("failed", 1, "SMTP_HOST is not set")


def test_a_mail_that_is_too_late_has_failed(desk: Desk, outbox: Outbox) -> None:
    desk.open(ANN)
    outbox.pass_time(24 * 3600)
    outbox.run()
    assert outcome(desk) == ("failed", 0, "too late")


def test_a_mail_is_no_delivery_over_http(desk: Desk, outbox: Outbox) -> None:
    desk.open(ANN)
    assert desk.send() == 0
    outbox.sql("DELETE FROM mails")
    assert desk.send() == 0


def test_a_test_of_an_alert_waits_for_what_the_workers_say(
    desk: Desk, outbox: Outbox, receiver: Receiver
) -> None:
    channels = [ANN, WEBHOOK, DASHBOARD]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            testing.send_test, desk.runtime, desk.org.uuid, desk.alert(), channels, wait_secs=40
        )
        wait_until(lambda: len(desk.rows()) == 3)
        desk.send()
        outbox.run()
        result = waiting.result()
    assert result.ok
    assert [one.status for one in result.deliveries] == ["sent"] * 3
    [delivery] = receiver.deliveries
    assert delivery.event == "alert.test"
    assert delivery.json["incident"]["id"] == str(result.synthetic_incident_id)
    [mail] = outbox.smtp.messages
    assert mail.message["Subject"] == "[warning] Test: Error rate"
    assert "This is a test" in mail.text


def test_an_organization_has_four_tests_under_way_and_no_more(desk: Desk, outbox: Outbox) -> None:
    def test() -> testing.TestResult:
        return testing.send_test(
            desk.runtime, desk.org.uuid, desk.alert(), [ANN, DASHBOARD], wait_secs=40
        )

    most = testing.PLACES.at_once
    with ThreadPoolExecutor(most) as pool:
        waiting = [pool.submit(test) for _ in range(most)]
        wait_until(lambda: len(desk.rows()) == 2 * most)
        with pytest.raises(RateLimited):
            test()
        assert len(desk.rows()) == 2 * most
        outbox.run()
        assert all(one.result().ok for one in waiting)
    with ThreadPoolExecutor(1) as pool:
        another = pool.submit(test)
        wait_until(lambda: len(desk.rows()) == 2 * most + 2)
        outbox.run()
        assert another.result().ok
