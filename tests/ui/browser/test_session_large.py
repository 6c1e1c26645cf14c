"""The session page with 13,000 and 100,000 events, a large payload, and everything on paper."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event

import pytest
from playwright.sync_api import Page, Route, expect

from bench.ui.generated import session
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site
from tests.ui.browser.trip import ago
from tests.ui.browser.trips import Trips, open_trips

# Milliseconds. A machine that does much else takes this long for a large session.
PATIENCE = 30_000
BEGUN = datetime(2026, 11, 2, 8, tzinfo=UTC)
# Counts the turns that paper gets, in place of printing.
PRINT = """() => {
  window.print = () => {
    document.body.dataset.printed = document.querySelectorAll("article:not([hidden])").length;
  };
}"""
ANY = re.compile(r"\d")
SIZES = {"short": 300, "middle": 13_000, "long": 100_000}


@pytest.fixture(scope="module")
def trips(site: Site) -> Trips:
    """Generated sessions. The long one is stored while the tests of the others run."""
    made = open_trips(site)
    made.deliver("payload", _with_payload("payload"))
    for name in ("short", "middle", "long"):
        made.send(session(name, SIZES[name], begun=BEGUN))
    return made


@pytest.fixture
def opened(visit: Opened, trips: Trips) -> Callable[[str], Page]:
    """Opens a page as the member who may do everything, once its session is stored."""

    def path(page: str) -> Page:
        name = re.split(r"[/?]", page)[1]
        if name in SIZES:
            trips.wait(name, SIZES[name])
        return visit("all", f"/o/{trips.org}/{page}")

    return path


def _with_payload(name: str) -> list[bytes]:
    """Returns a session with a result of 100 kB, as JSON in a string, in thousands of lines."""
    rows = [{"id": number, "name": f"row {number}", "tags": ["a", "b"]} for number in range(1500)]
    base: dict[str, object] = {"session_id": name, "agent_id": "desk", "environment": "production"}
    call: dict[str, object] = {"tool_name": "export_rows", "tool_call_id": "c1"}
    result: dict[str, object] = {"type": "tool_result", **call, "output": json.dumps(rows)}
    events: list[dict[str, object]] = [{"type": "tool_use", **call, "input": {}}, result]
    return [
        json.dumps({**base, "timestamp": ago(60 - index).isoformat(), **event}).encode()
        for index, event in enumerate(events)
    ]


def test_a_payload_draws_only_lines_in_view(opened: Callable[[str], Page]) -> None:
    page = opened("sessions/payload")
    page.get_by_role("treegrid").get_by_role("row").filter(has_text="export_rows").click()
    page.get_by_role("tab", name="Pair").click()
    page.get_by_role("button", name="tool_result").click()
    page.get_by_role("tab", name="Payload").click()
    payload = page.get_by_role("group", name="Payload")
    expect(payload).to_contain_text('"row 1"')
    expect(payload).not_to_contain_text('"row 1000"')
    page.get_by_role("tab", name="Raw").click()
    expect(page.get_by_role("tabpanel").last).to_contain_text("row 1499")


def test_paper_has_every_turn_with_its_text(opened: Callable[[str], Page]) -> None:
    page = opened("sessions/short?view=transcript")
    articles = page.get_by_role("article")
    expect(articles.first).to_contain_text("plan a round trip", timeout=PATIENCE)
    on_screen = articles.count()
    page.evaluate(PRINT)
    page.keyboard.press("Control+p")
    expect(page.locator("body")).to_have_attribute("data-printed", ANY, timeout=PATIENCE)
    printed = int(page.evaluate("document.body.dataset.printed"))
    assert printed > 2 * on_screen
    expect(articles.last).to_contain_text("success")
    calls = page.get_by_role("article", name=re.compile("^Tool call"))
    for call in (calls.first, calls.last):
        expect(call).to_contain_text(re.compile("x{300}"))
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    expect(page.get_by_role("complementary")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") > 5000
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(articles).not_to_have_count(printed)


def test_rows_come_before_the_rest(opened: Callable[[str], Page], trips: Trips) -> None:
    trips.wait("middle", SIZES["middle"])
    ids = trips.api.get("/sessions/middle/outline?columns=id")["columns"]["id"]
    page = opened("sessions/short")
    rest, requests = Event(), list[str]()

    def hold(route: Route) -> None:
        requests.append(route.request.url)
        if "cursor=" in route.request.url and not rest.is_set():
            held.append(route)
        else:
            route.continue_()

    held: list[Route] = []
    page.route("**/outline?*", hold)
    page.goto(f"/o/{trips.org}/sessions/middle?e={ids[6000]}")
    grid = page.get_by_role("treegrid", name="Events of session")
    chosen = page.get_by_role("row", selected=True)
    expect(chosen).to_be_in_viewport(timeout=PATIENCE)
    expect(grid).to_have_attribute("aria-rowcount", "-1")
    first = next(url for url in requests if "/middle/outline" in url)
    assert f"around={ids[6000]}" in first
    before = chosen.bounding_box()
    rest.set()
    for route in held:
        route.continue_()
    expect(grid).to_have_attribute("aria-rowcount", re.compile(r"^\d{4}$"), timeout=PATIENCE)
    expect(chosen).to_be_in_viewport()
    after = chosen.bounding_box()
    assert before
    assert after
    assert abs(before["y"] - after["y"]) < 2


def test_find_filters_and_keys_work_over_13000_events(opened: Callable[[str], Page]) -> None:
    page = opened("sessions/middle")
    grid = page.get_by_role("treegrid", name="Events of session")
    expect(grid).to_have_attribute("aria-rowcount", re.compile(r"^\d{4}$"), timeout=PATIENCE)
    page.get_by_role("searchbox", name="Search in session").fill("no seat left")
    expect(page.get_by_text("148 of 13,000 match")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("checkbox", name="Hide others").check()
    grid.focus()
    chosen = page.get_by_role("row", selected=True)
    for key in ("n", "Shift+N", "Shift+E"):
        page.keyboard.press(key)
        expect(chosen).to_contain_text(re.compile("failed"))
    page.keyboard.press("End")
    expect(chosen).to_be_in_viewport()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="gpt-4o", exact=True).click()
    expect(page.get_by_text(re.compile(r"^\d,\d{3} of 13,000 shown$"))).to_be_visible()


def test_two_sessions_are_aligned_in_windows(opened: Callable[[str], Page], trips: Trips) -> None:
    page = opened("sessions/middle")
    page.get_by_role("button", name="Compare with…").click()
    page.get_by_role("dialog").get_by_role("combobox", name="Session").fill("short")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare sessions")
    expect(page.get_by_text(re.compile("^(Identical|Same steps) up to event"))).to_be_visible(
        timeout=PATIENCE
    )
    expect(page.get_by_text(re.compile("^Aligned in windows of 5,000 rows"))).to_be_visible()
    differences = page.get_by_role("table", name="Differences")
    expect(differences.get_by_role("row", name=re.compile("Events"))).to_contain_text("12,700")


def test_100000_events_are_within_reach(opened: Callable[[str], Page]) -> None:
    page = opened("sessions/long")
    grid = page.get_by_role("treegrid", name="Events of session")
    expect(page.get_by_text("100,000 events")).to_be_visible(timeout=PATIENCE)
    expect(grid).to_have_attribute("aria-rowcount", re.compile(r"^\d{5}$"), timeout=PATIENCE)
    count = int(grid.get_attribute("aria-rowcount") or 0)
    grid.focus()
    page.keyboard.press("End")
    last = page.get_by_role("row", selected=True)
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-rowindex", str(count))
    page.get_by_role("tab", name="Table").click()
    table = page.get_by_role("table", name="Events")
    expect(table).to_have_attribute("aria-rowcount", "100001")
