"""Copy as curl answers what a page shows, and Open in SQL runs, also with hostile filters."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, expect

from tests.support.airline import Airline
from tests.ui.browser.conftest import WIDE, Watch
from tests.ui.browser.recorded import SCORED, Recorded, record
from tests.ui.browser.site import Site
from tests.ui.browser.views import HOSTILE, HOSTILE_ID, HOSTILE_PLACE, View, in_url, number


@pytest.fixture(scope="module")
def recorded(site: Site, airline: Airline) -> Recorded:
    """The organization of these tests."""
    return record(site, airline)


@pytest.fixture(scope="module")
def opened(browser: Browser, site: Site, recorded: Recorded) -> Iterator[tuple[View, Watch]]:
    """A page of a member with all permissions, with a key of the organization."""
    context = browser.new_context(viewport=WIDE, timezone_id="Asia/Kathmandu")
    context.set_default_timeout(15_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
    watch = Watch(site.url)
    watch.follow(context)
    cookie = {"name": "service_session", "value": recorded.token, "url": site.url}
    context.add_cookies([cookie])  # type: ignore[list-item]
    yield View(context.new_page(), recorded.api.key), watch
    context.close()


@pytest.fixture
def view(opened: tuple[View, Watch]) -> Iterator[View]:
    """The page, which is watched."""
    view, watch = opened
    yield view
    assert watch.problems == []


JSON = {"Content_Type": "application/json"}
SPEC = {"event_type": "error", "lookback_secs": 300}


def texts(answer: Any) -> list[str]:
    """Returns all texts of an answer."""
    if isinstance(answer, dict | list):
        parts = answer.values() if isinstance(answer, dict) else answer
        return [text for part in parts for text in texts(part)]
    return [answer] if isinstance(answer, str) else []


RECORDED = {"from": "2026-11-01T10:00:00Z", "to": "2026-11-02T02:00:00.000Z"}
AROUND = {"from": "2026-11-03T11:00:00Z", "to": "2026-11-03T13:00:00Z"}
ODD = {"from": "2026-10-01T00:00:30Z", "to": "2026-10-01T00:08:00Z"}
IDS = {"agent_id": [HOSTILE_ID, "other, one"], "environment": [HOSTILE_PLACE]}
NAMES = {name: [HOSTILE, "other, one"] for name in ("tool_name", "hook_name", "model")}
EVENTS = (
    in_url(live=0, search="Payment amount", search_exclude=["error"], errored="true", **RECORDED),
    in_url(
        live=0,
        session_id=[HOSTILE_ID],
        trigger_event=[HOSTILE],
        search=HOSTILE,
        **IDS,
        **NAMES,
        **AROUND,
    ),
)


@pytest.mark.parametrize("state", EVENTS, ids=["search", "hostile"])
def test_events(view: View, recorded: Recorded, state: str) -> None:
    view.open(f"{recorded.url}/events?{state}")
    shown = view.events("Events")
    assert shown
    assert [event["id"] for event in view.curl()["events"]] == shown
    rows = view.sql()
    assert {row["id"] for row in rows[: len(shown)]} == set(shown)
    assert [row["ts"] for row in rows] == sorted((row["ts"] for row in rows), reverse=True)


@pytest.mark.parametrize(
    ("state", "failures"),
    [
        (in_url(environment=["production", "staging"], search="payment", **RECORDED), None),
        (in_url(error_type=[HOSTILE], group_by="tool_name", **IDS, **AROUND), 1),
    ],
    ids=["recorded", "hostile"],
)
def test_errors(view: View, recorded: Recorded, state: str, failures: int | None) -> None:
    view.open(f"{recorded.url}/errors?{state}")
    shown = view.events("Errors")
    assert shown
    assert failures in (None, len(shown))
    assert [event["id"] for event in view.curl()["events"]] == shown
    counted = number(view.figure("Failed events"))
    rows = view.sql()
    assert len(rows) == counted
    assert {row["id"] for row in rows[: len(shown)]} == set(shown)


FIGURES = ("p50", "p95", "p99", "max")


@pytest.mark.parametrize(
    "state",
    [
        in_url(view="people", agent_id=["airline-support"], **RECORDED),
        in_url(**IDS, **NAMES, **AROUND),
    ],
    ids=["people", "hostile"],
)
def test_latency(view: View, recorded: Recorded, state: str) -> None:
    view.open(f"{recorded.url}/latency?{state}")
    answer = view.curl()
    for name in FIGURES:
        assert number(view.figure(name)) == answer["summary"][name]
    count = number(view.figure("Count"))
    assert count == answer["summary"]["count"] > 0
    named = view.cells("Slowest names")
    slowest = {row["key"]: row for row in answer["distribution"]}
    assert len(named) == len(slowest)
    for cells in named:
        assert number(cells[1]) == slowest[cells[0]]["p50"]
    assert view.sql()[0]["count"] == count


COMPLETED = {
    "time": "completion",
    "from": (SCORED + timedelta(minutes=5)).isoformat(),
    "to": (SCORED + timedelta(minutes=35)).isoformat(),
}


@pytest.mark.parametrize(
    "state",
    [
        in_url(agent_id=[HOSTILE_ID, "airline-support"], score=HOSTILE, **COMPLETED),
        in_url(status=["done"], **IDS, **COMPLETED),
        in_url(**RECORDED),
        in_url(t="all"),
    ],
    ids=["all", "hostile", "by session", "of sessions without events too"],
)
def test_evaluations(view: View, recorded: Recorded, state: str) -> None:
    view.open(f"{recorded.url}/evaluations?{state}")
    answer = view.curl()
    assert number(view.figure("Evaluations")) == answer["total"] > 0
    mean = float(view.figure("reward"))
    [stats] = [row for row in answer["score_stats"] if row["key"] == "reward"]
    assert mean == pytest.approx(stats["avg"])
    assert "reward" in {row["score"] for row in view.sql()}


@pytest.mark.parametrize(
    "state",
    [
        in_url(environment=["production"], score_filters=["reward:0.2..0.9"], order="asc"),
        in_url(session_id=[HOSTILE_ID], **IDS, **AROUND),
        in_url(sort="score:reward", order="asc", **RECORDED),
    ],
    ids=["scores", "hostile", "score"],
)
def test_sessions(view: View, recorded: Recorded, state: str) -> None:
    view.open(f"{recorded.url}/sessions?live=0&{state}")
    table = view.table("Sessions")
    ids = table.get_by_role("checkbox").evaluate_all(
        "boxes => boxes.map(box => box.getAttribute('aria-label').replace(/^Select /, ''))"
    )
    assert ids
    assert [row["session_id"] for row in view.curl()["sessions"]] == ids
    assert [row["session_id"] for row in view.sql()][: len(ids)] == ids


def test_a_session_and_its_filters(view: View, recorded: Recorded) -> None:
    state = in_url(type=["tool_use", "tool_result"], name=["get_reservation_details"])
    view.open(f"{recorded.url}/sessions/airline-009-t2?{state}")
    status = view.page.get_by_text(re.compile(r"^\d+ of \d+ shown"))
    shown = int(status.inner_text().split()[0])
    ids = view.curl()["columns"]["id"]
    assert len(ids) == shown > 0
    assert {row["id"] for row in view.sql()} == set(ids)


def test_a_session_with_a_hostile_name(view: View, recorded: Recorded) -> None:
    path = quote(HOSTILE_ID, safe="")
    view.open(f"{recorded.url}/sessions/{path}")
    expect(view.page.get_by_role("treegrid", name="Events of session")).to_be_visible()
    assert view.curl()["total"] == 3
    assert [row["event_type"] for row in view.sql()] == ["agent_start", "tool_use", "tool_result"]


def test_two_sessions(view: View, recorded: Recorded) -> None:
    view.open(f"{recorded.url}/compare?{urlencode({'a': 'airline-009-t2', 'b': HOSTILE_ID})}")
    row = view.table("Differences").get_by_role("row", name=re.compile("^Events"))
    expect(row.get_by_role("cell")).to_have_count(3)
    counts = [number(text) for text in row.get_by_role("cell").all_inner_texts()[:2]]
    by_id = {row["session_id"]: row["event_count"] for row in view.curl()["sessions"]}
    assert [by_id["airline-009-t2"], by_id[HOSTILE_ID]] == counts
    rows = {row["session_id"]: row["event_count"] for row in view.sql()}
    assert rows == by_id


def test_a_statement(view: View, recorded: Recorded) -> None:
    statement = "SELECT $1 AS text, count() AS events FROM events WHERE agent_id = $1 -- it's"
    view.open(f"{recorded.url}/sql?{urlencode({'sql': statement, 'p1': HOSTILE_ID})}")
    view.page.get_by_role("button", name="Run").click()
    expect(view.page.get_by_text(re.compile(r"^1 row in"))).to_be_visible()
    assert view.curl()["rows"] == [[HOSTILE_ID, 3]]


def test_what_watches(view: View, recorded: Recorded) -> None:
    for path, body in (
        ("/alerts/incidents", {"title": HOSTILE_ID, "summary": HOSTILE_ID}),
        ("/dashboards", {"name": HOSTILE_ID}),
        ("/audits", {"name": HOSTILE_ID}),
        ("/alerts", {"name": HOSTILE_ID, "trigger_kind": "per_event", "trigger_spec": SPEC}),
    ):
        status, answer = recorded.api.request("POST", path, json.dumps(body).encode(), **JSON)
        assert status == 201, answer
    report = json.dumps({"title": f"{HOSTILE_ID} over", "summary": HOSTILE_ID}).encode()
    status, answer = recorded.api.request("POST", "/alerts/incidents", report, **JSON)
    assert status == 201, answer
    resolved = json.loads(answer)["id"]
    status, answer = recorded.api.request(
        "POST", f"/alerts/incidents/{resolved}/resolve", b"{}", **JSON
    )
    assert status == 200, answer
    view.open(f"{recorded.url}/incidents")
    links = view.page.get_by_role("main").get_by_role("link")
    addresses = links.evaluate_all("links => links.map(link => link.href)")
    shown = {url.rpartition("/")[2] for url in addresses if "/incidents/" in url}
    assert resolved in shown
    assert {row["id"] for row in view.curl()} == shown
    incident = recorded.api.get("/alerts/incidents")[0]["id"]
    for path in ("dashboards", "alerts", "incidents", f"incidents/{incident}", "audits"):
        view.open(f"{recorded.url}/{path}")
        expect(view.page.get_by_role("main")).to_contain_text(HOSTILE_ID)
        assert HOSTILE_ID in texts(view.curl())


NAMED: dict[str, Callable[[Any], list[str]]] = {
    "keys": lambda rows: [row["name"] for row in rows],
    "members": lambda rows: [row["email"] for row in rows],
    "permission-sets": lambda rows: [row["name"] for row in rows],
    "settings": lambda answer: [row["schema"]["title"] for row in answer["settings"]],
}


def test_administration(view: View, recorded: Recorded) -> None:
    for path, named in NAMED.items():
        view.open(f"{recorded.url}/{path}")
        main = view.page.get_by_role("main")
        names = named(view.curl())
        assert names
        for name in names:
            expect(main).to_contain_text(name)
    view.open(f"{recorded.url}/usage")
    events = number(view.figure("Events"))
    assert view.curl()["usage"]["events_ingested"] == events > 0


def test_the_audit_log(view: View, recorded: Recorded) -> None:
    body = json.dumps({"name": HOSTILE_ID}).encode()
    status, answer = recorded.api.request("POST", "/audits", body, **JSON)
    assert status == 201, answer
    view.open(f"{recorded.url}/audit-log?{in_url(action='audit.create')}")
    lines = view.curl()["lines"]
    assert [(cells[2], cells[3]) for cells in view.cells("Audit log")] == [
        (line["action"], line["target"]) for line in lines
    ]
    assert HOSTILE_ID in [line["target"] for line in lines]
