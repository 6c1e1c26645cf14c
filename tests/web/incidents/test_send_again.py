"""Failed notifications are sent again."""

from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support import evaluator as behave
from tests.support import notifications
from tests.support.app import new_key
from tests.support.incidents import add_alert
from tests.support.notifications import DASHBOARD, WEBHOOK
from tests.support.receivers import Receiver, running_receiver
from tests.support.runtime import Org, make_org
from tests.web.incidents.conftest import NOBODYS, Desk


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


@pytest.fixture
def workers(runtime: Runtime, org: Org, receiver: Receiver) -> notifications.Desk:
    """The deliveries of the organization, whose webhook is the receiver."""
    made = notifications.Desk(runtime, org)
    made.sql("DELETE FROM notifications")
    made.set("webhook_default_url", receiver.url)
    return made


def test_a_failed_notification_is_sent_again(
    desk: Desk, runtime: Runtime, org: Org, workers: notifications.Desk, receiver: Receiver
) -> None:
    alert = add_alert(runtime, org, channels=[DASHBOARD, WEBHOOK])
    incident = desk.report(alert).get_json()["id"]
    receiver.script.append(behave.reply(404))
    workers.send()
    before = desk.get(f"/{incident}")["notifications"]
    states = {one["channel"]: (one["status"], one["attempts"]) for one in before}
    assert states == {"dashboard": ("sent", 0), "webhook": ("failed", 1)}

    answer = desk.act(incident, "send-again")
    assert answer.status_code == 200
    [again] = [one for one in answer.get_json() if one["channel"] == "webhook"]
    assert (again["status"], again["attempts"], again["error"]) == ("queued", 0, None)
    workers.send()
    after = {one["id"]: one["status"] for one in desk.get(f"/{incident}")["notifications"]}
    assert after == {one["id"]: "sent" for one in before}
    first, second = receiver.deliveries
    assert first.id == second.id == again["id"]
    # Nothing has failed any more.
    assert {one["status"] for one in desk.act(incident, "send-again").get_json()} == {"sent"}


def test_an_incident_of_others_is_not_there(desk: Desk, runtime: Runtime) -> None:
    incident = desk.open()
    assert desk.act(NOBODYS, "send-again").status_code == 404
    stranger = new_key(runtime, make_org(runtime))
    assert desk.act(incident, "send-again", stranger).status_code == 404
