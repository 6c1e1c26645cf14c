"""Every link of a mail, a Slack message or a webhook, followed in a browser.

A deployment of its own sends them, to a mail server and to receivers of Slack and of webhooks. A
member who is signed in reaches the page at once. Everybody else signs in first, with the code of a
mail, and gets there too.
"""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import UUID

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select, text

from devstack.up.deployment import Deployment
from shared.access.mail.kinds import KINDS
from shared.access.organizations.models import Organization
from shared.access.users import service as users
from shared.access.users.sign_in import guesses
from shared.foundation.deployment.runtime import Runtime
from tests.flows.api import Api
from tests.support.deployment import running_deployment
from tests.support.evaluator import Exchange, reply, running_evaluator
from tests.support.processes import wait_until
from tests.support.receivers import Receiver, running_receiver
from tests.support.runtime import connected
from tests.support.smtp import Smtp, running_smtp
from tests.ui.browser.conftest import WIDE, Watch
from tests.ui.browser.site import session, settings_of

BOB, CAROL = "bob@example.com", "carol@example.com"
RULE, INCIDENT = "Tools fail <b>often</b>", "Bookings are lost & found"
CHANNELS = [{"kind": "email", "recipients": [BOB]}, {"kind": "slack"}, {"kind": "webhook"}]
# A rule has its incident announced, that one resolved, and a test sent.
ANNOUNCED = 3
# These lead to the sessions of the organization that a person used last.
START = ("/", "/sign-in")


@dataclass(frozen=True)
class Post:
    """What the deployment sent, and the headings of the pages that its links have to show."""

    deployment: Deployment
    api: Api
    smtp: Smtp
    slack: Receiver
    webhook: Receiver
    headings: dict[str, str]

    def links(self) -> set[str]:
        """Returns the links of all messages."""
        mails = [part for mail in list(self.smtp.messages) for part in (mail.text, mail.html)]
        texts = [*mails, *(one.body.decode() for one in self.slack.deliveries)]
        found = {link for one in texts for link in re.findall(r'https?://[^\s"<>|]+', one)}
        return found | {one.json["incident"]["page_url"] for one in self.webhook.deliveries}


@pytest.fixture(scope="module")
def post(chromium: str) -> Iterator[Post]:
    """A deployment that has sent each kind of message."""
    with (
        running_smtp() as smtp,
        running_receiver() as slack,
        running_receiver() as webhook,
        running_evaluator() as evaluator,
        running_deployment(evaluator, WEBHOOK_ALLOW_PRIVATE="1", **smtp.variables()) as deployment,
        connected(settings_of(deployment)) as runtime,
    ):
        api = Api(int(deployment.environ["PORT"]), deployment.admin_key)
        sent = Post(deployment, api, smtp, slack, webhook, dict.fromkeys(START, "Sessions"))
        _send(sent, runtime)
        yield sent


def _send(post: Post, runtime: Runtime) -> None:
    """Has each kind of message sent, and waits until all have arrived."""
    api = post.api
    api.deliver([json.dumps(event).encode() for event in session(1)])
    _call(api, "PUT", "/settings/alerts.slack_default_webhook", value=post.slack.url)
    _call(api, "PUT", "/settings/alerts.webhook_default_url", value=post.webhook.url)
    bob, carol = (
        _call(api, "POST", "/users", email=email, permission_set="standard")["id"]
        for email in (BOB, CAROL)
    )
    _call(api, "PUT", f"/users/{carol}", permission_set="admin")
    with runtime.postgres.transaction() as opened:
        # A person gets no mail about incidents before taking the invitation up.
        users.take_up(opened, opened.scalars(select(Organization.id)).one(), UUID(bob))
    rule = {
        "name": RULE,
        "channels": CHANNELS,
        "trigger_kind": "per_event",
        "trigger_spec": {"event_type": "never", "lookback_secs": 300},
    }
    alert = f"/alerts/{_call(api, 'POST', '/alerts', **rule)['id']}"
    assert _call(api, "POST", f"{alert}/test")["ok"]
    report = {"title": INCIDENT, "summary": "three people reported it"}
    incident = f"/incidents/{_call(api, 'POST', f'{alert}/incidents', **report)['id']}"
    _call(api, "POST", f"/alerts{incident}/subscribe", email=BOB)
    _call(api, "POST", f"/alerts{incident}/comments", body="We are on it")
    _call(api, "POST", f"/alerts{incident}/resolve")
    with runtime.postgres.transaction() as opened:
        for _ in range(guesses.MAX_TRIES):
            guesses.count(opened, runtime.queue, CAROL)
        slug = opened.scalars(select(Organization.slug)).one()
    post.headings.update({f"/o/{slug}{alert}": RULE, f"/o/{slug}{incident}": INCIDENT})
    wait_until(lambda: _has_arrived(post, runtime))


def _has_arrived(post: Post, runtime: Runtime) -> bool:
    with runtime.postgres.transaction() as opened:
        rows = opened.execute(text("SELECT kind, status FROM mails")).all()
    assert {kind for kind, _ in rows} <= KINDS.keys()
    received = [len(receiver.deliveries) for receiver in (post.slack, post.webhook)]
    return (
        {kind for kind, _ in rows} == KINDS.keys() - {"code"}
        and {status for _, status in rows} == {"sent"}
        and received == [ANNOUNCED, ANNOUNCED]
    )


def _call(api: Api, method: str, path: str, **body: object) -> dict[str, Any]:
    """Sends a request and returns the answer. Fails for an error."""
    content = json.dumps(body).encode()
    status, answer = api.request(method, path, content, Content_Type="application/json")
    assert status < 300, answer
    found: dict[str, Any] = json.loads(answer)
    return found


def sign_in(page: Page, smtp: Smtp) -> None:
    """Signs in as Bob, with the code of a mail."""
    before = len(smtp.to(BOB))
    page.get_by_role("textbox", name="E-mail").fill(BOB)
    page.get_by_role("button", name="Send code").click()
    mail = smtp.wait_for(BOB, number=before + 1)
    [code] = re.findall(r"^ +(\d{6})$", mail.text, re.MULTILINE)
    page.get_by_role("textbox", name="Code").fill(code)


def shows(page: Page, post: Post, path: str) -> None:
    """Requires that the page of a link is shown. Its heading is the name of the thing."""
    expect(page.get_by_role("heading", level=1)).to_have_text(post.headings[path])
    if path not in START:
        expect(page).to_have_url(f"{post.deployment.url}{path}")


def test_each_link_leads_to_its_page(browser: Browser, post: Post) -> None:
    url = post.deployment.url
    links = post.links()
    paths = {urlsplit(link).path for link in links}
    assert links == {f"{url}{path}" for path in paths}
    assert paths == post.headings.keys()
    watch = Watch(url)
    with (
        browser.new_context(viewport=WIDE, base_url=url) as visitor,
        browser.new_context(viewport=WIDE, base_url=url) as member,
    ):
        watch.follow(visitor)
        watch.follow(member)
        page = visitor.new_page()
        for path in sorted(paths):
            page.goto(path)
            expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
            back = "" if path in START else f"?next={quote(path, safe='')}"
            expect(page).to_have_url(f"{url}/sign-in{back}")
        page = member.new_page()
        first, *others = sorted(paths - {*START})
        page.goto(first)
        sign_in(page, post.smtp)
        shows(page, post, first)
        for path in (*others, *START):
            page.goto(path)
            if path == "/sign-in":
                expect(page.get_by_text(f"You are signed in as {BOB}.")).to_be_visible()
                page.get_by_role("link", name="Open Watchpost").click()
            shows(page, post, path)
    assert sorted(set(watch.problems)) == []


def test_programs_find_the_incident_of_a_webhook(post: Post) -> None:
    urls = {one.json["incident"]["url"] for one in post.webhook.deliveries} - {""}
    [path] = [url.removeprefix(f"{post.deployment.url}/v1") for url in urls]
    assert post.api.get(path)["title"] == INCIDENT


def test_a_failed_notification_is_sent_again(browser: Browser, post: Post) -> None:
    """The page follows the delivery to its end by itself."""
    answered = threading.Event()

    def answer_later(exchange: Exchange) -> None:
        answered.wait(60)
        reply(200)(exchange)

    post.webhook.script.append(reply(404))
    rule = {
        "name": "Asks a receiver that is away",
        "channels": [{"kind": "webhook"}],
        "trigger_kind": "per_event",
        "trigger_spec": {"event_type": "never", "lookback_secs": 300},
    }
    alert = _call(post.api, "POST", "/alerts", **rule)["id"]
    incident = _call(post.api, "POST", f"/alerts/{alert}/incidents", summary="reported")["id"]

    def status() -> str:
        [one] = post.api.get(f"/alerts/incidents/{incident}")["notifications"]
        return str(one["status"])

    wait_until(lambda: status() == "failed")
    slug = next(path.split("/")[2] for path in post.headings if path.startswith("/o/"))
    with browser.new_context(viewport=WIDE, base_url=post.deployment.url) as context:
        page = context.new_page()
        page.goto(f"/o/{slug}/incidents/{incident}")
        sign_in(page, post.smtp)
        deliveries = page.get_by_role("list", name="Deliveries")
        expect(deliveries).to_contain_text("failed")
        post.webhook.script.append(answer_later)
        page.get_by_role("button", name="Send again").click()
        expect(page.get_by_role("button", name="Send again")).to_have_count(0)
        expect(deliveries).to_contain_text("queued")
        answered.set()
        expect(deliveries).to_contain_text("sent")
