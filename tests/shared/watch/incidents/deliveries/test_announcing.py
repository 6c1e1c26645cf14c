"""Announcements of an incident: one row per delivery, and its content before it is sent."""

import pytest

from shared.access.mail.rendering import render
from shared.foundation.core.errors import Conflict
from shared.watch.alerts import testing
from shared.watch.alerts.opening import measured
from shared.watch.incidents import service as incidents
from shared.watch.incidents.deliveries import service
from shared.watch.incidents.deliveries.models import Notification
from shared.watch.incidents.opening import Breach
from tests.support.notifications import DASHBOARD, EMAIL, FOUND, PUBLIC_URL, SLACK, WEBHOOK, Desk

SLACK_URL = "https://hooks.slack.com/services/T0/B0/geheim"


def told(desk: Desk) -> list[tuple[object, ...]]:
    """Returns channel, target, status and error of every row."""
    return sorted(
        (row["channel"], row["target"], row["status"], row["error"]) for row in desk.rows()
    )


def test_each_recipient_and_each_target_has_a_row_of_its_own(desk: Desk) -> None:
    desk.set("email_default_recipients", ["ann@example.net", "bob@example.net"])
    desk.set("slack_default_webhook", SLACK_URL)
    desk.set("webhook_default_url", "https://hooks.example.com:8443/in?token=geheim")
    incident = desk.open(EMAIL, SLACK, WEBHOOK, DASHBOARD)
    assert told(desk) == [
        ("dashboard", "dashboard", "sent", None),
        ("email", "ann@example.net", "queued", None),
        ("email", "bob@example.net", "queued", None),
        ("slack", "https://hooks.slack.com/…", "queued", None),
        ("webhook", "https://hooks.example.com:8443/…", "queued", None),
    ]
    assert {row["incident_id"] for row in desk.rows()} == {incident.id}
    assert {row["event"] for row in desk.rows()} == {"alert.firing"}
    assert "geheim" not in str([dict(row) for row in desk.rows()])


def test_a_target_of_two_channels_gets_one_delivery(desk: Desk) -> None:
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    ann = {"kind": "email", "recipients": ["ann@example.net"]}
    both = {"kind": "email", "recipients": ["ann@example.net", "bob@example.net"]}
    desk.open(ann, both, WEBHOOK, WEBHOOK)
    assert [row["target"] for row in desk.rows()] == [
        "ann@example.net",
        "bob@example.net",
        "https://hooks.example.com/…",
    ]


def test_a_channels_own_targets_override_the_defaults(desk: Desk) -> None:
    desk.set("email_default_recipients", ["ann@example.net"])
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    desk.open(
        {"kind": "email", "recipients": ["bob@example.net"]},
        {"kind": "slack", "webhook_setting_key": "alerts.webhook_default_url"},
    )
    assert told(desk) == [
        ("email", "bob@example.net", "queued", None),
        ("slack", "https://hooks.example.com/…", "queued", None),
    ]


def test_a_delivery_without_a_target_is_skipped_with_its_reason(desk: Desk) -> None:
    desk.open(EMAIL, {"kind": "email", "recipients": []}, SLACK, WEBHOOK)
    assert told(desk) == [
        (
            "email",
            "alerts.email_default_recipients",
            "skipped",
            (
                "the channel names no recipients,"
                " and the setting alerts.email_default_recipients is empty"
            ),
        ),
        (
            "slack",
            "alerts.slack_default_webhook",
            "skipped",
            "the setting alerts.slack_default_webhook is empty",
        ),
        (
            "webhook",
            "alerts.webhook_default_url",
            "skipped",
            "the setting alerts.webhook_default_url is empty",
        ),
    ]


def test_a_channel_that_is_not_enabled_is_skipped_and_says_so(desk: Desk) -> None:
    desk.set("enabled_channels", ["slack"])
    desk.set("slack_default_webhook", SLACK_URL)
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    desk.open({"kind": "email", "recipients": ["ann@example.net"]}, SLACK, WEBHOOK, DASHBOARD)
    reason = "is not enabled in the setting alerts.enabled_channels"
    assert told(desk) == [
        ("dashboard", "dashboard", "sent", None),
        ("email", "ann@example.net", "skipped", f"email {reason}"),
        ("slack", "https://hooks.slack.com/…", "queued", None),
        ("webhook", "https://hooks.example.com/…", "skipped", f"webhook {reason}"),
    ]
    assert desk.sql("SELECT id FROM mails WHERE org_id = :org_id") == []


def test_mails_beyond_those_that_may_wait_are_skipped_and_say_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_WAITING_MAILS", 3)
    two = {"kind": "email", "recipients": ["ann@example.net", "bob@example.net"]}
    why = "3 mails of the organization are already waiting"
    for _ in range(3):
        desk.open(two, DASHBOARD)
    mails = [(row["status"], row["error"]) for row in desk.rows() if row["channel"] == "email"]
    assert sorted(mails, key=str) == [("queued", None)] * 3 + [("skipped", why)] * 3
    assert len(desk.sql("SELECT 1 FROM mails WHERE org_id = :org_id")) == 3
    desk.sql("UPDATE notifications SET status = 'sent' WHERE org_id = :org_id")
    desk.open(two)
    assert [row["status"] for row in desk.rows()[-2:]] == ["queued"] * 2


def test_an_incident_without_channels_is_not_announced(desk: Desk) -> None:
    desk.resolve(desk.open())
    assert desk.rows() == []


def test_a_resolved_incident_is_announced_once_more_and_no_third_time(desk: Desk) -> None:
    incident = desk.open(DASHBOARD)
    desk.resolve(incident)
    with pytest.raises(Conflict):
        desk.resolve(incident)
    assert [row["event"] for row in desk.rows()] == ["alert.firing", "alert.resolved"]


def test_a_breach_of_an_open_incident_is_not_announced_again(desk: Desk) -> None:
    alert = desk.stored_alert()
    fields = {"source": "alert", "alert_id": alert.id, "alert_name": alert.name}
    first = desk.open(DASHBOARD, **fields)
    again = desk.open(DASHBOARD, **fields, breach=Breach(0.5, "worse", None))
    assert (again.id, again.breach_value) == (first.id, 0.5)
    assert len(desk.rows()) == 1
    desk.resolve(first)
    assert desk.open(DASHBOARD, **fields).id != first.id
    assert [row["event"] for row in desk.rows()] == [
        "alert.firing",
        "alert.resolved",
        "alert.firing",
    ]


def test_a_rolled_back_incident_is_not_announced(desk: Desk) -> None:
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    with desk.runtime.postgres.transaction() as session:
        incidents.open_incident(session, desk.runtime, desk.opening(WEBHOOK))
        session.rollback()
    assert desk.rows() == []


def test_a_webhook_gets_the_documented_body(desk: Desk) -> None:
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    incident = desk.open(WEBHOOK)
    row = desk.row()
    assert incident.origin is not None
    assert row["content"] == {
        "schema_version": 1,
        "event": "alert.firing",
        "delivery_id": str(row["id"]),
        "incident": {
            "id": str(incident.id),
            "url": f"{PUBLIC_URL}/v1/alerts/incidents/{incident.id}",
            "page_url": f"{PUBLIC_URL}/o/{desk.org.slug}/incidents/{incident.id}",
            "opened_at": f"{incident.opened_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        },
        "alert": {
            "id": incident.origin["id"],
            "name": "Error rate",
            "severity": "critical",
            "description": None,
        },
        "breach": {
            "value": 0.25,
            "summary": "error_rate 0.25 > 0.2",
            "evidence": FOUND,
            "group": None,
            "level": None,
        },
    }


def test_every_channel_says_what_to_do_and_writes_values_for_people(desk: Desk) -> None:
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    desk.set("slack_default_webhook", SLACK_URL)
    channels = ({"kind": "email", "recipients": ["ann@example.net"]}, SLACK, WEBHOOK)
    alert = desk.stored_alert()
    alert.description = "Restart <the> gateway."
    alert.channels = [dict(channel) for channel in channels]
    evidence = {"metric": "error_rate", "value": 2 / 3, "op": ">", "bound": 0.2}
    opening = measured(alert, Breach(2 / 3, "error_rate was 66.7 %", evidence))
    with desk.runtime.postgres.transaction() as session:
        incident = incidents.open_incident(session, desk.runtime, opening).incident
    assert incident.alert_description == "Restart <the> gateway."
    by_channel = {row["channel"]: row["content"] for row in desk.rows()}
    assert by_channel["webhook"]["alert"]["description"] == "Restart <the> gateway."
    assert by_channel["webhook"]["breach"]["value"] == 2 / 3
    section = by_channel["slack"]["blocks"][1]
    assert section["text"]["text"] == (
        "error_rate was 66.7 %\n*What to do*\nRestart &lt;the&gt; gateway."
    )
    assert "*Value*\n66.7 %" in [field["text"] for field in section["fields"]]
    [mail] = desk.sql("SELECT kind, context FROM mails WHERE org_id = :org_id")
    text = render(mail["kind"], "ann@example.net", mail["context"], public_url=None).text
    assert "What to do: Restart <the> gateway." in text
    assert "Value: 66.7 %" in text


def test_an_incident_without_a_url_and_an_origin_is_announced(desk: Desk) -> None:
    desk.configure(public_url=None)
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    desk.open(WEBHOOK, origin=None, source="manual")
    content = desk.row()["content"]
    assert content["incident"]["url"] == content["incident"]["page_url"] == ""
    assert content["alert"] == {
        "id": None,
        "name": None,
        "severity": "critical",
        "description": None,
    }


def test_a_test_is_about_an_incident_that_there_is_not(desk: Desk) -> None:
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    result = testing.send_test(
        desk.runtime, desk.org.uuid, desk.alert(), [DASHBOARD, WEBHOOK, SLACK], wait_secs=0
    )
    assert [(one.channel, one.status) for one in result.deliveries] == [
        ("dashboard", "sent"),
        ("webhook", "queued"),
        ("slack", "skipped"),
    ]
    assert not result.ok
    assert {row["incident_id"] for row in desk.rows()} == {None}
    [content] = [row["content"] for row in desk.rows() if row["channel"] == "webhook"]
    assert content["event"] == "alert.test"
    assert content["incident"]["id"] == str(result.synthetic_incident_id)
    assert content["alert"]["severity"] == "warning"
    assert desk.sql("SELECT id FROM incidents WHERE org_id = :org_id") == []


def test_a_row_of_an_earlier_release_shows_no_path() -> None:
    whole = {"target": "https://hooks.example.com/secret", "url_setting_key": "some.url"}
    assert Notification(**whole).shown_target == "https://hooks.example.com/…"
    assert Notification(target="ann@example.com").shown_target == "ann@example.com"
