"""The session page: waterfall, chosen event, find, filters, transcript, evaluations, live."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site
from tests.ui.browser.trip import EVENTS, RAW_INPUT, ago, trip
from tests.ui.browser.trips import Trips, open_trips

ENDED = "trip/ended"
PAGE = "sessions/trip%2Fended"


@pytest.fixture(scope="module")
def trips(site: Site) -> Trips:
    """A session that ended, in an organization of its own."""
    made = open_trips(site)
    made.deliver(ENDED, trip(ENDED, ago(3600)))
    return made


@pytest.fixture
def admin(visit: Opened, trips: Trips) -> Callable[[str], Page]:
    """Opens a page as the member who may do everything."""
    return lambda path: visit("all", f"/o/{trips.org}/{path}")


def rows(page: Page) -> list[str]:
    """Returns level and first word of each row."""
    found = page.get_by_role("treegrid").get_by_role("row", name=re.compile("."))
    return [
        f"{row.get_attribute('aria-level')} {row.locator('b').inner_text()}"
        for row in found.all()
        if row.get_attribute("aria-level")
    ]


def test_agents_hold_their_calls_and_agents(admin: Callable[[str], Page]) -> None:
    page = admin(PAGE)
    grid = page.get_by_role("treegrid", name="Events of session")
    expect(page.get_by_role("heading", level=1)).to_have_text(ENDED)
    expect(grid).to_have_attribute("aria-rowcount", "10")
    assert rows(page) == [
        "1 desk",
        "2 gpt-4o",
        "2 person",
        "2 gpt-4o",
        "2 search",
        "3 find_flights",
        "3 ToolError",
        "3 find_flights",
        "2 gpt-4o",
    ]
    expect(page.get_by_text("Ended", exact=True)).to_be_visible()
    context = page.get_by_role("figure", name="Context, 1.0 % at most")
    expect(context.get_by_role("row").nth(1)).to_have_text(re.compile("desk.*1.0 %"))
    page.get_by_role("button", name="Fold search").click()
    expect(page.get_by_role("row").filter(has_text="ToolError")).to_have_count(0)
    assert "fold=search" in page.url
    page.go_back()
    expect(page.get_by_role("row").filter(has_text="ToolError")).to_have_count(1)


def test_a_chosen_event_shows_its_payload_as_it_was_sent(admin: Callable[[str], Page]) -> None:
    page = admin(PAGE)
    page.get_by_role("row").filter(has_text="from: JFK").filter(has_text="failed").click()
    event = page.get_by_role("complementary", name="Event")
    expect(event.get_by_role("heading", name="find_flights")).to_be_visible()
    expect(event.get_by_text("no seat left")).to_be_visible()
    expect(event.get_by_text('"<img src=x onerror=alert(1)>"')).to_be_visible()
    assert page.locator("img").count() == 0
    event.get_by_role("tab", name="Raw").click()
    expect(event.get_by_role("tabpanel")).to_contain_text(RAW_INPUT)
    event.get_by_role("tab", name="Pair").click()
    expect(event.get_by_text("1.0 s").first).to_be_visible()
    event.get_by_role("button", name="tool_result").click()
    expect(event.get_by_role("tabpanel")).to_contain_text("tool_use")
    event.get_by_role("button", name="Copy payload").click()
    expect(page.get_by_text("Copy payload: copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["error"] == "no seat left"
    event.get_by_role("button", name="Close").click()
    expect(page.get_by_role("complementary", name="Breakdown")).to_be_visible()


def test_keys_move_between_rows_matches_and_errors(admin: Callable[[str], Page]) -> None:
    page = admin(PAGE)
    expect(page.get_by_role("treegrid")).to_have_attribute("aria-rowcount", re.compile(r"\d+"))
    for key, title in (
        ("j", "desk"),
        ("j", "gpt-4o"),
        ("Shift+E", "find_flights"),
        ("k", "search"),
    ):
        page.keyboard.press(key)
        expect(page.get_by_role("row", selected=True).locator("b")).to_have_text(title)
    for key, expanded in (("ArrowLeft", "false"), ("ArrowRight", "true")):
        page.keyboard.press(key)
        expect(page.get_by_role("row", selected=True)).to_have_attribute("aria-expanded", expanded)
    for key, tab in ((".", "Raw"), ("o", "Payload")):
        page.keyboard.press(key)
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary", name="Breakdown")).to_be_visible()
    page.keyboard.press("4")
    expect(page.get_by_role("table", name="Events")).to_have_attribute(
        "aria-rowcount", str(EVENTS + 1)
    )


def test_a_link_to_an_event_shows_it(admin: Callable[[str], Page], trips: Trips) -> None:
    outline = trips.api.get(f"/{PAGE}/outline")
    last = outline["columns"]["id"][-2]
    page = admin(f"{PAGE}?e={last}")
    expect(page.get_by_role("row", selected=True)).to_be_in_viewport()
    expect(page.get_by_role("complementary", name="Event")).to_contain_text(str(last))
    gone = admin(f"{PAGE}?e=12345")
    expect(gone.get_by_text("The event of this link is not part of the session.")).to_be_visible()


def test_find_looks_into_payloads(admin: Callable[[str], Page]) -> None:
    page = admin(PAGE)
    expect(page.get_by_role("searchbox", name="Search in session")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search in session")).to_be_focused()
    page.keyboard.type("in-the-payload")
    expect(page.get_by_text(f"1 of {EVENTS} match")).to_be_visible()
    page.get_by_role("checkbox", name="Hide others").check()
    expect(page.get_by_role("row").filter(has=page.locator("b"))).to_have_count(3)
    page.get_by_role("treegrid").focus()
    page.keyboard.press("n")
    expect(page.get_by_role("row", selected=True)).to_contain_text("find_flights")
    page.route("**/outline?search=*", lambda route: route.fulfill(status=400, json={}))
    page.get_by_role("searchbox", name="Search in session").fill("gpt-4o")
    expect(page.get_by_text(re.compile("^Payloads were not searched: "))).to_be_visible()
    expect(page.get_by_text(f"6 of {EVENTS} match")).to_be_visible()


def test_filters_say_how_many_events_are_shown(admin: Callable[[str], Page]) -> None:
    page = admin(f"{PAGE}?errored=1")
    expect(page.get_by_text(f"2 of {EVENTS} shown")).to_be_visible()
    page.get_by_role("button", name="Remove Failed: only").click()
    expect(page.get_by_text(f"2 of {EVENTS} shown")).to_have_count(0)
    page.get_by_role("button", name="find_flights").click()
    expect(page.get_by_text(f"4 of {EVENTS} shown")).to_be_visible()
    assert "name=find_flights" in page.url


def test_the_visible_time_is_a_slider(admin: Callable[[str], Page]) -> None:
    page = admin(PAGE)
    slider = page.get_by_role("slider", name="Visible time")
    expect(slider).to_have_attribute("aria-valuetext", "0:00 to 1:03 of 1:03")
    expect(page.get_by_role("button", name="Show gaps")).to_be_visible()
    slider.focus()
    page.keyboard.press("+")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("to 1:03 of 1:03"))
    expect(page.get_by_text(re.compile(rf"^\d+ of {EVENTS} shown"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(slider).to_have_attribute("aria-valuetext", "0:00 to 1:03 of 1:03")


def test_the_transcript_says_each_thing_once(admin: Callable[[str], Page]) -> None:
    page = admin(f"{PAGE}?view=transcript")
    expect(page.get_by_role("article", name="Goal").first).to_contain_text("book a round trip")
    expect(page.get_by_text("Book the cheapest trip.")).to_have_count(1)
    expect(page.get_by_role("article", name="Person")).to_contain_text("On Friday, please.")
    expect(page.get_by_text("Be brief.")).to_have_count(0)
    call = page.get_by_role("article", name="Tool call find_flights").first
    expect(call).to_contain_text("<img src=x onerror=alert(1)>")
    expect(call).to_contain_text("no seat left")


def test_evaluations_say_why_or_how_much(admin: Callable[[str], Page]) -> None:
    page = admin(f"{PAGE}?view=evaluations")
    region = page.get_by_role("region", name=re.compile("Why no score|Newest result"))
    expect(region.first).to_be_visible()


def test_each_permission_shows_its_part(visit: Opened, trips: Trips) -> None:
    page = visit("events", f"/o/{trips.org}/{PAGE}")
    expect(page.get_by_role("treegrid", name="Events of session")).to_be_visible()
    page.get_by_role("tab", name="Evaluations").click()
    expect(page.get_by_text("You need the permission evaluations:read.")).to_be_visible()
    assert page.get_by_role("button", name="Re-evaluate").count() == 0
    scores = visit("scores", f"/o/{trips.org}/{PAGE}")
    expect(scores.get_by_text(f"{EVENTS} events")).to_be_visible()
    scores.get_by_role("tab", name="Waterfall").click()
    expect(scores.get_by_text("You need the permission events:read.")).to_be_visible()
    assert scores.get_by_role("button", name="Export").count() == 0


def test_a_running_session_grows(admin: Callable[[str], Page], trips: Trips) -> None:
    lines = trip("trip-live", ago(75), ended=False)
    trips.deliver("trip-live", lines)
    page = admin("sessions/trip-live")
    expect(page.get_by_text("Running", exact=True)).to_be_visible()
    open_call = page.get_by_role("row").filter(has_text="running").filter(has_text="find_flights")
    expect(open_call).to_contain_text(re.compile(r"running \d+ s"))
    expect(page.get_by_text(re.compile(r"Silent for \d+ s, 2 calls open"))).to_be_visible()
    result = json.loads(lines[-1]) | {
        "type": "tool_result",
        "agent_id": "search",
        "tool_name": "find_flights",
        "tool_call_id": "c2",
    }
    result["timestamp"] = ago(0).isoformat().replace("+00:00", "Z")
    trips.api.deliver([json.dumps(result).encode()])
    expect(open_call).to_have_count(0, timeout=20_000)
    expect(page.get_by_text("14 events")).to_be_visible()
    page.route("**/outline?since=*", lambda route: route.fulfill(status=400, json={}))
    expect(page.get_by_role("button", name="Try again")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("treegrid")).to_be_visible()


def test_one_column_shows_the_event_as_a_dialog(visit: Opened, trips: Trips) -> None:
    page = visit("all", f"/o/{trips.org}/{PAGE}", viewport=NARROW)
    page.get_by_role("row").filter(has_text="ToolError").click()
    dialog = page.get_by_role("dialog", name="Event")
    expect(dialog.get_by_role("heading", name="ToolError")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= NARROW["width"]


def test_two_sessions_are_aligned(admin: Callable[[str], Page], trips: Trips) -> None:
    trips.deliver("trip-open", trip("trip-open", ago(7200), ended=False))
    page = admin("compare?a=trip%2Fended&b=trip-open")
    expect(page.get_by_text("Identical up to event 13")).to_be_visible()
    page.get_by_role("button", name="Next difference").click()
    expect(page.get_by_role("complementary", name="Payload difference")).to_contain_text(
        "Only one session"
    )
    table = page.get_by_role("table", name="Alignment")
    expect(table).to_have_attribute("aria-rowcount", str(EVENTS + 1))
    table.get_by_role("row").nth(1).click()
    expect(page.get_by_role("complementary")).to_contain_text("The payloads are equal")


def test_neighbours_are_those_of_the_list(admin: Callable[[str], Page], trips: Trips) -> None:
    for hours in (30, 31, 32, 33):
        trips.send(trip(f"neighbour-{hours}", ago(3600 * hours)))
    for hours in (30, 31, 32, 33):
        trips.wait(f"neighbour-{hours}", EVENTS)
    # The list ends before the newest of the four, and says nothing of other environments.
    end = ago(3600 * 30.5).strftime("%Y-%m-%dT%H:%M:%SZ")
    listed = quote(f"environment=production&to={end}", safe="")
    page = admin(f"sessions/neighbour-32?list={listed}")
    heading = page.get_by_role("heading", level=1)
    expect(page.get_by_role("link", name="Newer session")).to_be_visible()
    page.keyboard.press("[")
    expect(heading).to_have_text("neighbour-31")
    expect(page.get_by_role("link", name="Older session")).to_be_visible()
    expect(page.get_by_role("link", name="Newer session")).to_have_count(0)
    page.keyboard.press("]")
    expect(heading).to_have_text("neighbour-32")
    page.get_by_role("link", name="Older session").click()
    expect(heading).to_have_text("neighbour-33")
    assert "list=" in page.url


def test_a_session_to_compare_with_is_offered_and_a_wrong_one_named(
    admin: Callable[[str], Page], trips: Trips
) -> None:
    """Those of the agent are offered."""
    other = [line.replace(b'"desk"', b'"another"') for line in trip("trip-other", ago(7200))]
    trips.deliver("trip-other", other)
    trips.deliver("trip-same", trip("trip-same", ago(7200)))
    page = admin(PAGE)
    page.get_by_role("button", name="Compare with…").click()
    dialog = page.get_by_role("dialog", name="Compare with")
    offered = dialog.locator("datalist option")
    expect(offered.and_(page.locator("[value=trip-same]"))).to_have_count(1)
    for name in ("trip-other", ENDED):
        expect(offered.and_(page.locator(f"[value='{name}']"))).to_have_count(0)
    dialog.get_by_role("combobox", name="Session").fill("no-such-trip")
    dialog.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text('There is no session "no-such-trip"')


def test_other_texts_are_differences_though_the_steps_are_the_same(
    admin: Callable[[str], Page], trips: Trips
) -> None:
    lines = [line.replace(b"Which day?", b"Which week?") for line in trip("trip-texts", ago(7200))]
    trips.deliver("trip-texts", lines)
    page = admin("compare?a=trip%2Fended&b=trip-texts")
    expect(
        page.get_by_text(f"Same steps in all {EVENTS} events, other texts from event")
    ).to_be_visible()
    page.get_by_role("button", name="Next difference").click()
    expect(page.get_by_role("complementary", name="Payload difference")).to_contain_text("week")


def test_markdown_is_shown_formatted_and_as_sent(
    admin: Callable[[str], Page], trips: Trips
) -> None:
    table = "| from | price |\\n|---|---|\\n| JFK | 1 |"
    text = f"# Flights\\n\\n{table}\\n\\n- one\\n- [two](https://a.example/x)"
    lines = [
        line.replace(b'"content": "Which day?"', f'"content": "{text}"'.encode())
        for line in trip("trip-markdown", ago(7200))
    ]
    trips.deliver("trip-markdown", lines)
    page = admin("sessions/trip-markdown?view=transcript")
    answer = page.get_by_role("article", name="Assistant").first
    expect(answer.get_by_role("table")).to_contain_text("JFK")
    expect(answer.get_by_role("listitem")).to_have_count(2)
    expect(answer.get_by_role("link")).to_have_attribute("href", "https://a.example/x")
    answer.get_by_role("button", name="As sent").click()
    expect(answer).to_contain_text("| from | price |")
    expect(answer.get_by_role("table")).to_have_count(0)


def test_a_failed_agent_and_a_failed_session_look_failed(
    admin: Callable[[str], Page], trips: Trips
) -> None:
    """The trace of a call stands first in its panel, from both of its events."""
    trace = "Traceback (most recent call last):\n  File a.py, line 1, in book\nToolError: no seat"
    failed = {"agent_end": {"error": "gone"}, "tool_result": {"error": "no", "traceback": trace}}
    made = [json.loads(line) for line in trip("trip-failed", ago(7200))]
    lines = [json.dumps({**one, **failed.get(one["type"], {})}).encode() for one in made]
    trips.deliver("trip-failed", lines)
    page = admin("sessions/trip-failed")
    expect(page.get_by_text("Failed", exact=True)).to_be_visible()
    grid = page.get_by_role("treegrid")
    expect(grid.locator("b.err").filter(has_text="search")).to_be_visible()
    grid.get_by_role("row").filter(has_text="find_flights").first.click()
    panel = page.get_by_role("complementary", name="Event")
    expect(panel.get_by_role("region", name="Stack trace")).to_contain_text("ToolError: no seat")
    expect(panel.get_by_role("button", name="Copy stack trace")).to_be_visible()
    panel.get_by_role("button", name="Copy message").click()
    expect(page.get_by_text("Copy message: copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "no"


def test_neighbours_of_one_millisecond_and_of_one_moment(
    admin: Callable[[str], Page], trips: Trips
) -> None:
    base = ago(3600 * 50).replace(microsecond=0)
    moments = [100, 150, 200, 400, 400, 400]
    names = [f"micro-{place}" for place in range(len(moments))]
    for name, offset in zip(names, moments, strict=True):
        stamp = (base + timedelta(microseconds=offset)).isoformat(timespec="microseconds")
        line = {
            "timestamp": stamp.replace("+00:00", "Z"),
            "session_id": name,
            "agent_id": "a",
            "type": "agent_start",
            "environment": "micro",
        }
        trips.send([json.dumps(line).encode()])
    for name in names:
        trips.wait(name, 1)
    page = admin("sessions/micro-5?list=environment%3Dmicro")
    heading = page.get_by_role("heading", level=1)
    for key, walk in (("]", names[::-1]), ("[", names)):
        for one in walk:
            expect(heading).to_have_text(one)
            link = "Older session" if key == "]" else "Newer session"
            if one != walk[-1]:
                expect(page.get_by_role("link", name=link)).to_be_visible()
                page.keyboard.press(key)
        expect(page.get_by_role("link", name=link)).to_have_count(0)
