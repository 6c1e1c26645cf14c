"""The lists of events and of errors: rows, filters, what is new, one event beside them."""

import json
import re
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site, session


def query(page: Page) -> dict[str, list[str]]:
    """Returns the state that the URL holds."""
    return parse_qs(urlsplit(page.url).query)


def test_an_event_opens_beside_the_list(visit: Opened) -> None:
    page = visit("admin", "events?live=0&session_id=s-005")
    table = page.get_by_role("table", name="Events")
    heads = ["Time", "Type", "Agent", "Session", "Environment", "Summary"]
    expect(table.get_by_role("columnheader")).to_have_text(heads)
    expect(page.get_by_text("6 events shown")).to_be_visible()
    table.get_by_role("row", name=re.compile("tool_result")).get_by_role("link").first.click()
    panel = page.get_by_role("complementary", name="Event")
    expect(panel.get_by_role("heading", name="tool_result failed")).to_be_visible()
    expect(panel.get_by_text("no such booking").first).to_be_visible()
    chosen = query(page)["e"]
    panel.get_by_role("tab", name="Raw").click()
    expect(panel.get_by_text(re.compile('"error": ?"no such booking"'))).to_be_visible()
    panel.get_by_role("button", name="Copy payload").click()
    expect(page.get_by_role("status").filter(has_text="copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["tool_call_id"] == "c5"
    panel.get_by_role("tab", name="Pair").click()
    expect(panel.get_by_role("term").filter(has_text="Latency")).to_be_visible()
    expect(panel.get_by_text("500 ms")).to_be_visible()
    panel.get_by_role("button", name="Next event").click()
    expect(panel.get_by_role("heading", name="tool_use")).to_be_visible()
    page.go_back()
    expect(panel.get_by_role("heading", name="tool_result failed")).to_be_visible()
    page.reload()
    expect(panel.get_by_role("heading", name="tool_result failed")).to_be_visible()
    assert query(page)["e"] == chosen
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_on_a_narrow_screen_an_event_is_a_dialog(visit: Opened) -> None:
    page = visit("admin", "events?live=0&session_id=s-005", viewport=NARROW)
    page.get_by_role("row", name=re.compile("tool_result")).click()
    dialog = page.get_by_role("dialog", name="Event")
    expect(dialog.get_by_role("group", name="Payload")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def test_payloads_are_searched(visit: Opened, site: Site) -> None:
    page = visit("admin", "events?live=0")
    expect(page.get_by_text("100 events shown, more below")).to_be_visible()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("/")
    box = page.get_by_role("searchbox", name="Search payloads")
    expect(box).to_be_focused()
    box.fill("Question 17")
    expect(page.get_by_text("1 event shown")).to_be_visible()
    toolbar = page.get_by_role("toolbar", name="View")
    toolbar.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_role("status").filter(has_text="curl: copied")).to_be_visible()
    line = page.evaluate("navigator.clipboard.readText()")
    assert f"{site.url}/v1/events/summary?search=Question+17" in line
    expect(toolbar.get_by_role("link", name="Open in SQL")).to_have_attribute(
        "href", re.compile(r"/sql\?of=/events/summary%3Fsearch%3DQuestion%2B17$")
    )
    box.fill("nowhere at all")
    expect(page.get_by_role("heading", name="No events match")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Clear filters").last.click()
    expect(page.get_by_text("100 events shown, more below")).to_be_visible()


def test_new_events_wait_for_those_who_scrolled_away(visit: Opened, site: Site) -> None:
    page = visit("admin", "events?environment=staging")
    table = page.get_by_role("table", name="Events")
    expect(table).to_be_visible()
    expect(page.get_by_role("checkbox", name="Live")).to_be_checked()
    site.send(*session(948, datetime.now(UTC)))
    expect(table.get_by_role("link", name="s-948").first).to_be_visible()
    table.locator("..").evaluate("element => { element.scrollTop = 600 }")
    site.send(*session(951, datetime.now(UTC)))
    page.get_by_role("button", name="6 new").click()
    expect(table.get_by_role("link", name="s-951").first).to_be_visible()


def test_errors_are_counted_and_filtered(visit: Opened) -> None:
    page = visit("admin", "errors?agent_id=billing,support")
    expect(page.get_by_role("figure", name="Errors over time")).to_be_visible()
    groups = page.get_by_role("tablist", name="Groups")
    groups.get_by_role("tab", name="By tool").click()
    assert query(page)["group_by"] == ["tool_name"]
    page.get_by_role("table", name="Errors by tool").get_by_role("link", name="lookup").click()
    expect(page.get_by_role("button", name="Remove Tool: lookup")).to_be_visible()
    errors = page.get_by_role("table", name="Errors", exact=True)
    row = errors.get_by_role("row", name=re.compile("s-005"))
    expect(row.get_by_role("cell").nth(2)).to_have_text(re.compile("tool_result"))
    expect(row.get_by_role("link").first).to_have_attribute(
        "href", re.compile(r"/sessions/s-005\?e=\d+$")
    )


@pytest.mark.parametrize("way", ["click", "keys"])
@pytest.mark.parametrize("name", ["errors", "events"])
def test_a_row_opens_and_its_session_is_a_link(visit: Opened, name: str, way: str) -> None:
    """A click beside the links and Enter do the same."""
    page = visit("admin", f"{name}?agent_id=billing,support&live=0")
    table = page.get_by_role("table", name=name.capitalize(), exact=True)
    row = table.get_by_role("row").nth(1)
    session = row.get_by_role("link", name=re.compile(r"^s-\d+$"))
    expect(session).to_have_attribute("href", re.compile(r"/sessions/s-\d+"))
    if way == "click":
        row.get_by_role("cell").last.click()
    else:
        # The tables before it have rows of their own.
        row.get_by_role("link").first.focus()
        page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"[?&]e=\d+"))
    expect(page.get_by_role("tab", name="Payload").first).to_be_visible()


def test_the_chart_chooses_the_range(visit: Opened) -> None:
    page = visit("admin", "errors")
    drawing = page.get_by_role("figure", name="Errors over time").locator("svg")
    box = drawing.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 15, box["y"] + 40, steps=3)
    page.mouse.up()
    page.wait_for_url(re.compile("from="))
    state = query(page)
    assert datetime.fromisoformat(state["from"][0]) < datetime.fromisoformat(state["to"][0])
    page.go_back()
    expect(page.get_by_role("button", name=re.compile("Last 24 hours"))).to_be_visible()


def test_a_span_without_errors_keeps_its_chart(visit: Opened) -> None:
    page = visit("admin", "errors?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z")
    expect(page.get_by_role("heading", name="No errors match")).to_be_visible()
    expect(page.get_by_role("figure", name="Errors over time")).to_be_visible()
    page.get_by_role("button", name="Go to the latest").click()
    expect(page.get_by_role("table", name="Errors", exact=True)).to_be_visible()
