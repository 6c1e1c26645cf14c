"""Deliveries over HTTP: their content, their number, and the state of their rows."""

import hashlib
import hmac
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.testing import capture_logs

from shared.foundation.core.attempts import Failed, Sent
from shared.foundation.deployment.runtime import Runtime
from shared.watch.alerts import testing
from shared.watch.incidents.deliveries import claims, service
from tests.support import evaluator as behave
from tests.support.notifications import DASHBOARD, SECRET, SLACK, WEBHOOK, Desk
from tests.support.processes import wait_until
from tests.support.receivers import Receiver, running_receiver
from tests.support.runtime import make_org
from workers.deliveries import dispatcher
from workers.deliveries.client import DeliveryClient
from workers.deliveries.dispatcher import DeliveryDispatcher


def outcome(desk: Desk) -> tuple[object, ...]:
    row = desk.row()
    return row["status"], row["attempts"], row["error"]


def test_a_delivery_arrives_once_with_the_headers_of_the_contract(
    desk: Desk, receiver: Receiver
) -> None:
    desk.set("webhook_signing_secret", SECRET)
    desk.open(WEBHOOK, DASHBOARD)
    began = int(time.time())
    assert desk.send() == 1
    assert desk.send_later() == 0
    [delivery] = receiver.deliveries
    [row] = [row for row in desk.rows() if row["channel"] == "webhook"]
    assert (row["status"], row["attempts"], row["error"]) == ("sent", 1, None)
    assert row["finished_at"] is not None
    assert delivery.path == "/in?token=geheim"
    assert delivery.json == row["content"]
    assert delivery.headers["content-type"] == "application/json"
    assert delivery.headers["user-agent"].startswith("watchpost/")
    assert delivery.event == "alert.firing"
    assert delivery.id == delivery.json["delivery_id"] == str(row["id"])
    timestamp = delivery.headers["x-service-timestamp"]
    assert began <= int(timestamp) <= time.time()
    signed = timestamp.encode() + b"." + delivery.body
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert delivery.headers["x-service-signature"] == f"sha256={expected}"


def test_without_a_secret_nothing_is_signed(desk: Desk, receiver: Receiver) -> None:
    desk.open(WEBHOOK)
    desk.send()
    assert "x-service-signature" not in receiver.deliveries[0].headers


def test_slack_gets_a_message_and_none_of_our_headers(desk: Desk, receiver: Receiver) -> None:
    desk.set("slack_default_webhook", receiver.url)
    desk.set("webhook_signing_secret", SECRET)
    desk.open(SLACK)
    desk.send()
    [delivery] = receiver.deliveries
    assert delivery.json["blocks"][0]["text"]["text"] == "[critical] Too many errors"
    assert not [name for name in delivery.headers if name.startswith("x-service")]
    assert desk.row()["status"] == "sent"


def test_a_failed_delivery_is_sent_again_with_the_same_id_and_bytes(
    desk: Desk, receiver: Receiver
) -> None:
    receiver.script.extend([behave.reply(500, b"a banner of ours"), behave.close_at_once])
    desk.open(WEBHOOK)
    desk.send()
    assert outcome(desk) == ("queued", 1, "the receiver answered 500")
    assert 0 < desk.row()["wait"] <= 10
    assert desk.send() == 0
    desk.send_later()
    assert outcome(desk) == ("queued", 2, "the connection to the receiver broke")
    assert 5 < desk.row()["wait"] <= 20
    desk.send_later()
    assert outcome(desk) == ("sent", 3, None)
    assert len({(delivery.id, delivery.body) for delivery in receiver.deliveries}) == 1


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, "the receiver answered 404"),
        (410, "the receiver answered 410"),
        (302, "the receiver answered 302, and redirects are not followed"),
        (308, "the receiver answered 308, and redirects are not followed"),
    ],
)
def test_a_permanent_failure_is_not_retried(
    desk: Desk, receiver: Receiver, status: int, error: str
) -> None:
    receiver.default = behave.reply(status, b"", {"Location": receiver.server.url + "/elsewhere"})
    desk.open(WEBHOOK)
    desk.send()
    assert outcome(desk) == ("failed", 1, error)
    assert len(receiver.deliveries) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 503])
def test_a_receiver_says_when_to_come_again(desk: Desk, receiver: Receiver, status: int) -> None:
    receiver.default = behave.reply(status, b"", {"Retry-After": "120"})
    desk.open(WEBHOOK)
    desk.send()
    assert desk.row()["status"] == "queued"
    assert 60 < desk.row()["wait"] <= 120


@pytest.mark.parametrize("behaviour", [behave.hang, behave.drip_header, behave.drip_informational])
def test_no_attempt_outlasts_its_deadline(
    desk: Desk, receiver: Receiver, behaviour: behave.Answer
) -> None:
    receiver.default = behaviour
    desk.open(WEBHOOK)
    desk.send(deadline_secs=0.3)
    assert outcome(desk) == ("queued", 1, "no answer within 0.3 s")


@pytest.mark.parametrize("behaviour", [behave.flood_informational, behave.endless_headers])
def test_interim_answers_take_no_time_from_others(
    desk: Desk, receiver: Receiver, behaviour: behave.Answer
) -> None:
    receiver.default = behaviour
    desk.open(WEBHOOK)
    desk.send(deadline_secs=30.0)
    assert outcome(desk) == ("queued", 1, "the answer of the receiver is not HTTP")


@pytest.mark.parametrize(
    ("behaviour", "secs"), [(behave.drip_body, 2.0), (behave.flood(100 * 1024 * 1024), 30.0)]
)
def test_a_status_counts_whatever_the_body_does(
    desk: Desk, receiver: Receiver, behaviour: behave.Answer, secs: float
) -> None:
    receiver.default = behaviour
    desk.open(WEBHOOK)
    desk.send(deadline_secs=secs)
    assert outcome(desk) == ("sent", 1, None)


def test_a_delivery_is_given_up_after_a_day(desk: Desk, receiver: Receiver) -> None:
    receiver.default = behave.reply(500)
    desk.open(WEBHOOK)
    desk.sql("UPDATE notifications SET expires_at = now() + interval '1 minute', attempts = 50")
    desk.send()
    error = "the receiver answered 500, and there is no time for another attempt"
    assert outcome(desk) == ("failed", 51, error)


def test_deliveries_not_sent_in_time_are_too_late(desk: Desk, receiver: Receiver) -> None:
    receiver.default = behave.reply(500)
    desk.open(WEBHOOK)
    desk.send()
    desk.sql("UPDATE notifications SET expires_at = now(), next_attempt_at = now()")
    assert desk.send() == 0
    assert outcome(desk) == ("failed", 1, "too late: the receiver answered 500")


def test_a_test_is_tried_once(desk: Desk, receiver: Receiver) -> None:
    receiver.default = behave.reply(500)
    desk.open(WEBHOOK)
    desk.sql("UPDATE notifications SET event = 'alert.test'")
    desk.send()
    assert outcome(desk) == ("failed", 1, "the receiver answered 500")


def test_the_target_is_read_when_it_is_sent(desk: Desk, receiver: Receiver) -> None:
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    desk.open(WEBHOOK)
    desk.set("webhook_default_url", receiver.url)
    desk.send()
    assert desk.row()["target"] == f"{receiver.server.url}/…"
    assert desk.row()["status"] == "sent"


def test_a_url_that_was_taken_away_fails_what_was_meant_for_it(desk: Desk) -> None:
    desk.open(WEBHOOK)
    desk.set("webhook_default_url", "")
    desk.send()
    assert outcome(desk) == ("failed", 1, "the setting alerts.webhook_default_url is empty")


def test_a_receiver_that_hangs_delays_no_other_delivery(
    desk: Desk, receiver: Receiver, runtime: Runtime
) -> None:
    receiver.default = behave.hang
    for number in range(6):
        desk.open(WEBHOOK, title=f"incident {number}")
    with running_receiver() as prompt, ThreadPoolExecutor(1) as pool:
        sending = pool.submit(desk.send, deadline_secs=30)
        wait_until(lambda: len(receiver.deliveries) == claims.LANE_PLACES)
        # Deliveries that arrive while those hang: of another organization, and to another URL of
        # this one.
        other = Desk(runtime, make_org(runtime))
        other.set("webhook_default_url", prompt.url)
        desk.set("slack_default_webhook", prompt.url)
        other.open(WEBHOOK)
        desk.open(SLACK)
        wait_until(lambda: other.row()["status"] == "sent")
        wait_until(lambda: desk.rows()[-1]["status"] == "sent")
        assert len(receiver.deliveries) == claims.LANE_PLACES
        assert len(prompt.deliveries) == 2
        receiver.server.stopping.set()
        assert sending.result() == 8
    assert [row["status"] for row in desk.rows()] == ["queued"] * 6 + ["sent"]


def test_while_requests_hang_another_thread_goes_on_after_the_turn(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "TURN_SECS", 0.5)
    receiver.default = behave.hang
    desk.open(WEBHOOK)
    client = DeliveryClient(allow_private=True, deadline_secs=30)
    shared = DeliveryDispatcher(desk.runtime, client, threading.Event())
    with running_receiver() as prompt, ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(shared.run)
        wait_until(lambda: len(receiver.deliveries) == 1)
        desk.set("slack_default_webhook", prompt.url)
        desk.open(SLACK)
        # It returns at once while the other worker has the turn, and sends what that one leaves.
        wait_until(lambda: bool(shared.run() or prompt.deliveries))
        wait_until(lambda: desk.rows()[-1]["status"] == "sent")
        monkeypatch.setattr(dispatcher, "TURN_SECS", 30.0)
        desk.open(SLACK)
        wait_until(lambda: shared.run() == 1)
        assert not hanging.done()
        receiver.server.stopping.set()
        hanging.result()
    client.close()
    assert [row["status"] for row in desk.rows()] == ["queued", "sent", "sent"]


def test_organizations_with_less_in_flight_go_first(desk: Desk, runtime: Runtime) -> None:
    for number in range(3):
        desk.open(WEBHOOK, title=f"incident {number}")
    other = Desk(runtime, make_org(runtime))
    other.set("webhook_default_url", "https://hooks.example.com/in")
    other.open(WEBHOOK)
    with runtime.postgres.transaction() as session:
        first = claims.claim(session, runtime.settings, most=1, lease_secs=30)
    with runtime.postgres.transaction() as session:
        second = claims.claim(session, runtime.settings, most=1, lease_secs=30)
    assert [one.row.id for one in first] == [desk.rows()[0]["id"]]
    assert [one.row.id for one in second] == [other.row()["id"]]


def test_a_delivery_whose_worker_died_is_due_again_after_its_lease(
    desk: Desk, receiver: Receiver, runtime: Runtime
) -> None:
    desk.open(WEBHOOK)
    with runtime.postgres.transaction() as session:
        [claim] = claims.claim(session, runtime.settings, most=10, lease_secs=30)
    assert desk.send() == 0
    desk.now_due()
    assert desk.send() == 1
    [delivery] = receiver.deliveries
    assert delivery.id == str(claim.row.id)
    assert outcome(desk) == ("sent", 2, None)


def test_an_outcome_that_comes_after_its_lease_changes_nothing_but_sent(
    desk: Desk, runtime: Runtime
) -> None:
    desk.open(WEBHOOK)
    with runtime.postgres.transaction() as session:
        [late] = claims.claim(session, runtime.settings, most=10, lease_secs=30)
    desk.now_due()
    with runtime.postgres.transaction() as session:
        claims.claim(session, runtime.settings, most=10, lease_secs=30)
        claims.record(session, late, Failed("too late to say so"))
    assert outcome(desk) == ("queued", 2, None)
    with runtime.postgres.transaction() as session:
        claims.record(session, late, Sent())
    assert outcome(desk) == ("sent", 2, None)


def test_attempts_are_logged_without_what_is_secret(desk: Desk, receiver: Receiver) -> None:
    desk.set("webhook_signing_secret", SECRET)
    receiver.script.append(behave.reply(503, b"a banner of ours"))
    desk.open(WEBHOOK)
    with capture_logs() as logs:
        desk.send()
        desk.send_later()
    lines = [line for line in logs if line["event"] == "notification_attempt"]
    assert [(line["attempt"], line["status"], line["step"]) for line in lines] == [
        (1, 503, "again"),
        (2, 200, "sent"),
    ]
    assert all(line["duration_ms"] >= 0 for line in lines)
    shown = str([dict(row) for row in desk.rows()]) + str(logs)
    for secret in ("geheim", SECRET, "a banner of ours"):
        assert secret not in shown
    assert "/in" not in str(logs)


def test_tests_are_forgotten_after_a_day_and_nothing_else(desk: Desk, runtime: Runtime) -> None:
    desk.open(DASHBOARD)
    for _ in range(2):
        testing.send_test(runtime, desk.org.uuid, desk.alert(), [DASHBOARD])
    incident, old, _ = (row["id"] for row in desk.rows())
    for one in (old, incident):
        desk.sql(
            "UPDATE notifications SET created_at = now() - interval '25 hours' WHERE id = :id",
            id=one,
        )
    with runtime.postgres.transaction() as session:
        claims.tidy(session)
    left = {row["id"] for row in desk.rows()}
    assert old not in left
    assert incident in left
    assert len(left) == 2


def test_failed_deliveries_are_sent_again(desk: Desk, receiver: Receiver) -> None:
    desk.set("webhook_default_url", receiver.url)
    receiver.script.append(behave.reply(404))
    incident = desk.open(WEBHOOK, DASHBOARD)
    desk.send()
    assert [row["status"] for row in desk.rows()] == ["failed", "sent"]
    with desk.runtime.postgres.transaction() as session:
        again = service.send_again(session, desk.runtime, desk.org.uuid, str(incident.id))
        assert [(one.status, one.error) for one in again] == [("queued", None), ("sent", None)]
    desk.send()
    assert {row["status"] for row in desk.rows()} == {"sent"}
    first, second = receiver.deliveries
    assert first.json == second.json
