"""Every link that Watchpost sends or cites leads to a page of the UI."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from shared.access.mail.kinds import KINDS
from shared.access.mail.rendering import render
from shared.access.permissions import ALL
from shared.assistant.asker import Asker
from shared.assistant.tools.table import TOOLS, call
from shared.foundation.core import pages
from shared.foundation.core.clock import now_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from shared.watch.alerts import testing
from shared.watch.incidents import subscribers
from tests.support.app import Headers
from tests.support.dashboards import made, make_dashboard, save_query
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.findings import Audited, candidate
from tests.support.incidents import add_alert, new_actor
from tests.support.notifications import EMAIL, PUBLIC_URL, SLACK, WEBHOOK, Desk
from tests.support.people import new_email
from tests.support.runtime import Org
from web.state import state
from web.ui import routes

_ROUTES = Path(routes.__file__).parent / "src" / "routes.ts"
_PAGES = re.findall(r'\{\s+path: "([\w/:-]+)",\s+title:', _ROUTES.read_text())
_MADE: dict[str, dict[str, Any]] = {
    "code": {"code": "012345", "ttl_secs": 600},
    "codes_guessed": {"wrong_codes": 20},
}


@pytest.fixture
def desk(runtime: Runtime, org: Org) -> Desk:
    """An organization whose incidents go to a person, to Slack and to a webhook."""
    desk = Desk(runtime, org)
    desk.set("slack_default_webhook", "https://hooks.slack.com/services/T0/B0/x")
    desk.set("webhook_default_url", "https://hooks.example.com/in")
    return desk


@pytest.fixture
def follow(app: Flask, org: Org) -> Any:
    """Requires that a link leads to a page: of the server's routes and of the client's table."""

    def check(link: str) -> str:
        path = urlsplit(link.removeprefix(PUBLIC_URL)).path
        # Browsers resolve `.` and `..`.
        assert urlsplit(urljoin(PUBLIC_URL, link)).path == path
        assert path.startswith("/")
        assert app.url_map.bind("").match(path)[0].startswith("ui."), link
        if path.startswith("/o/"):
            slug, name, *one = path.removeprefix("/o/").split("/")
            assert slug == org.slug
            assert "/".join([name, *(":id" for _ in one)]) in _PAGES, link
        return path

    return check


def test_one_module_knows_the_paths_of_pages() -> None:
    paths = re.compile(r"""["'](?:/o/|/login|/sign-in|/v1/alerts/incidents)""")
    shared = Path(pages.__file__).parents[2]
    knowing = [
        file.relative_to(shared.parent).as_posix()
        for folder in (shared, shared.parent / "workers")
        for file in folder.rglob("*.py")
        if paths.search(file.read_text())
    ]
    assert knowing == ["shared/foundation/core/pages.py"]


def links(text: str) -> list[str]:
    """Returns the URLs in a text."""
    return re.findall(r"https?://[^\s\"<>|]+", text)


def test_links_of_mails(desk: Desk, client: FlaskClient, key: Any, follow: Any, org: Org) -> None:
    ann, bob = new_email(), new_actor(desk.runtime, org)
    body = {"email": ann, "permission_set": "admin"}
    user = made(client.post("/v1/users", json=body, headers=key()))
    changed = {"permission_set": "read-only"}
    assert client.put(f"/v1/users/{user['id']}", json=changed, headers=key()).status_code == 200
    incident = desk.open({**EMAIL, "recipients": [ann]})
    with desk.runtime.postgres.transaction() as session:
        subscribers.subscribe(session, org.uuid, str(incident.id), bob, None)
    desk.resolve(incident)
    testing.send_test(
        desk.runtime, org.uuid, desk.stored_alert(), [{**EMAIL, "recipients": [ann]}], wait_secs=0
    )
    mails = desk.sql("SELECT kind, context FROM mails WHERE org_id = :org_id ORDER BY created_at")
    led: dict[str, set[str]] = {"code": set()}
    for mail in mails:
        content = render(mail["kind"], ann, mail["context"], public_url=PUBLIC_URL)
        [link] = links(content.text)
        assert f'href="{link}"' in content.html
        led.setdefault(mail["kind"], set()).add(follow(link))
    page = f"/o/{org.slug}/incidents/{incident.id}"
    alert = f"/o/{org.slug}/alerts/"
    assert links(render("code", ann, _MADE["code"], public_url=PUBLIC_URL).text) == []
    guessed = render("codes_guessed", ann, _MADE["codes_guessed"], public_url=PUBLIC_URL)
    led["codes_guessed"] = {follow(one) for one in links(guessed.text)}
    assert led.keys() == KINDS.keys()
    assert led["invitation"] == led["codes_guessed"] == {"/sign-in"}
    assert led["permissions_changed"] == {"/"}
    assert led["incident_activity"] == {page}
    assert {one for one in led["alert_notification"] if not one.startswith(alert)} == {page}


def test_links_of_slack_messages_and_webhooks(desk: Desk, follow: Any, app: Flask) -> None:
    incident = desk.open(SLACK, WEBHOOK)
    alert = desk.stored_alert()
    testing.send_test(desk.runtime, desk.org.uuid, alert, [SLACK, WEBHOOK], wait_secs=0)
    by_page: dict[str, list[str]] = {}
    for row in desk.rows():
        content = row["content"]
        if row["channel"] == "slack":
            [link] = links(json.dumps(content))
        else:
            link = content["incident"]["page_url"]
            for_programs = content["incident"]["url"].removeprefix(PUBLIC_URL)
            assert not for_programs or app.url_map.bind("").match(for_programs)
        by_page.setdefault(follow(link), []).append(row["channel"])
    assert by_page == {
        f"/o/{desk.org.slug}/incidents/{incident.id}": ["slack", "webhook"],
        f"/o/{desk.org.slug}/alerts/{alert.id}": ["slack", "webhook"],
    }


def test_links_of_the_assistants_tools(
    desk: Desk, app: Flask, client: FlaskClient, key: Any, follow: Any
) -> None:
    arguments = _planted(desk, client, key())
    with app.app_context():
        asker = Asker(desk.runtime, state().queries, desk.org.uuid, desk.org.slug, ALL, "the tests")
        led = {
            name: [follow(link) for link in cited(call(asker, name, _json(arguments, name)).value)]
            for name in TOOLS
        }
    odd = {f"/o/{desk.org.slug}/sessions/%1D{name}" for name in (".", "..")}
    assert odd < set(led["list_sessions"])
    assert [name for name, found in led.items() if not found] == ["sql_schema"]


def _json(arguments: dict[str, Any], name: str) -> bytes:
    return json.dumps(arguments.get(name, {})).encode()


def cited(value: Any) -> Iterator[str]:
    """Yields the links in a tool's answer."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from [item] if name == "link" else cited(item)
    elif isinstance(value, list):
        for item in value:
            yield from cited(item)


def _planted(desk: Desk, client: FlaskClient, key: Headers) -> dict[str, dict[str, Any]]:
    """Stores one of each thing with hostile names; returns the arguments that ask for them."""
    session_id = "a/b?c#d é"
    stored, *_ = store_events(
        desk.runtime.clickhouse,
        desk.org.id,
        [event(one, "12:00:00") for one in (session_id, ".", "..")],
    )
    store.insert(desk.runtime.clickhouse, [evaluation(desk.org.id, session_id, now_us())])
    save_query(client, key)
    board = made(make_dashboard(client, key))
    audited = Audited(desk.runtime, desk.org)
    audited.file(candidate())
    add_alert(desk.runtime, desk.org)
    budget = {"period": "day", "amount_usd": 5, "tz": "UTC"}
    add_alert(desk.runtime, desk.org, name="Spending", trigger_kind="budget", trigger_spec=budget)
    return {
        "read_session": {"session_id": session_id},
        "read_transcript": {"session_id": session_id},
        "read_event": {"session_id": session_id, "event_id": stored.event_id},
        "read_incident": {"incident_id": str(desk.open().id)},
        "read_finding": {"finding_id": str(audited.finding().id)},
        "read_dashboard": {"dashboard_id": board["id"]},
        "list_dimension_values": {"field": "user_id"},
        "run_sql": {"sql": "SELECT '?&#/' FROM events"},
    }
