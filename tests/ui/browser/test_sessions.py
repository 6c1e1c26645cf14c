"""The list of sessions: its rows, filters, range, keys, and what is new."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site, session


def query(page: Page) -> dict[str, list[str]]:
    """Returns the state that the URL holds."""
    return parse_qs(urlsplit(page.url).query)


def rows(page: Page) -> int:
    return page.get_by_role("table", name="Sessions").get_by_role("row").count() - 1


def shown(site: Site, **filters: str) -> str:
    """Returns what the list says of its sessions. Other tests add some."""
    return f"{len(list(site.api.rows('sessions', **filters)))} sessions shown"


def test_rows_say_what_the_api_says(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?live=0")
    table = page.get_by_role("table", name="Sessions")
    heads = table.get_by_role("columnheader")
    names = ["Session", "Agents", "Environment", "Started", "Duration", "Events", "Errors"]
    expect(heads).to_have_text([*names, "Tokens", re.compile("."), "State"])
    row = table.get_by_role("row", name=re.compile("s-005"))
    expect(row.get_by_role("cell")).to_have_text(
        [
            "s-005", "support", "production", re.compile(r"\d\d \w{3} \d\d:\d\d:\d\d"),
            "5.0 s", "6", "1", "1.3k", "1.00", "Ended",
        ]
    )  # fmt: skip
    moment = row.get_by_role("cell").nth(3).locator("time")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", moment.get_attribute("datetime") or "")
    expect(page.get_by_role("status").filter(has_text="sessions shown")).to_have_text(
        "50 sessions shown, more below"
    )
    # A click would scroll there first, and then the button presses itself.
    page.get_by_role("button", name="Load more").dispatch_event("click")
    expect(page.get_by_text(shown(site))).to_be_visible()
    assert page.title().startswith("Sessions · ")


def test_filters_are_steps_of_the_history(visit: Opened, site: Site) -> None:
    staging = shown(site, environment="staging")
    billing = shown(site, environment="staging", agent_id="billing")
    page = visit("admin", "sessions?live=0")
    filters = page.get_by_role("search", name="Filters")
    filters.get_by_role("combobox", name="Environment").click()
    page.get_by_role("option", name="staging").click()
    expect(page).to_have_url(re.compile(r"environment=staging"))
    expect(page.get_by_text(staging)).to_be_visible()
    agent = filters.get_by_role("combobox", name="Agent")
    agent.fill("billing")
    agent.press("Enter")
    expect(page.get_by_text(billing)).to_be_visible()
    page.go_back()
    expect(page.get_by_text(staging)).to_be_visible()
    page.reload()
    expect(page.get_by_text(staging)).to_be_visible()
    page.get_by_role("button", name="Remove Environment: staging").click()
    expect(page.get_by_text("50 sessions shown")).to_be_visible()
    session_box = filters.get_by_role("combobox", name="Session")
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("/")
    expect(session_box).to_be_focused()
    session_box.fill("nowhere")
    session_box.press("Enter")
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Clear filters").last.click()
    expect(page.get_by_text("50 sessions shown")).to_be_visible()


def test_the_oldest_come_first_on_request(visit: Opened) -> None:
    page = visit("admin", "sessions?agent_id=support")
    header = page.get_by_role("columnheader", name="Started")
    expect(header).to_have_attribute("aria-sort", "descending")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    first = page.get_by_role("table", name="Sessions").get_by_role("link").first
    expect(first).to_have_text("s-059")
    expect(page.get_by_role("checkbox", name="Live")).not_to_be_checked()
    assert query(page) == {"agent_id": ["support"], "order": ["asc"]}


def test_the_range_is_chosen_in_a_zone(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    page.get_by_role("button", name="Time range: All time Europe/Berlin").click()
    dialog = page.get_by_role("dialog", name="Time range")
    dialog.get_by_role("textbox", name="From").fill("2020-01-01 01:00:00")
    dialog.get_by_role("textbox", name="To").fill("2020-01-02 01:00:00")
    dialog.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    assert query(page)["from"] == ["2020-01-01T00:00:00.000Z"]
    page.get_by_role("button", name="Go to the latest").click()
    expect(page.get_by_text("50 sessions shown")).to_be_visible()
    page.keyboard.press("t")
    zone = dialog.get_by_role("combobox", name="Time zone")
    zone.fill("Asia/Kathmandu")
    zone.press("Enter")
    dialog.get_by_role("radio", name="Last 24 hours").check()
    dialog.get_by_role("button", name="Apply").click()
    expect(
        page.get_by_role("button", name="Time range: Last 24 hours Asia/Kathmandu")
    ).to_be_visible()
    assert query(page) == {"live": ["0"], "t": ["24h"], "tz": ["Asia/Kathmandu"]}


def test_the_toolbar_copies_links_and_requests(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?live=0&environment=staging")
    toolbar = page.get_by_role("toolbar", name="View")
    toolbar.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Copy link: copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{site.path()}?live=0&environment=staging&tz=Europe/Berlin"
    toolbar.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_role("status").filter(has_text="curl: copied")).to_be_visible()
    line = page.evaluate("navigator.clipboard.readText()")
    assert "$WATCHPOST_KEY" in line
    assert f"{site.url}/v1/sessions?environment=staging" in line
    assert "\n" not in line
    expect(toolbar.get_by_role("link", name="Open in SQL")).to_have_attribute(
        "href", re.compile(r"/sql\?sql=.*agent_sessions.*staging")
    )


def test_a_reader_is_not_offered_sql(visit: Opened) -> None:
    page = visit("reader", "sessions?live=0")
    expect(page.get_by_role("toolbar", name="View")).to_be_visible()
    expect(page.get_by_role("link", name="Open in SQL")).to_have_count(0)


def test_keys_move_and_open_rows(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    first = page.get_by_role("table", name="Sessions").get_by_role("link").first
    expect(first).to_be_visible()
    page.keyboard.press("j")
    expect(first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(first).to_be_focused()
    name = first.inner_text()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/sessions/{name}"))
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Command palette")
    palette.get_by_role("combobox").fill("laten")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Latency")


def test_two_sessions_can_be_compared(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    page.get_by_role("checkbox", name="Select s-001").check()
    expect(page.get_by_role("link", name="Compare")).to_have_count(0)
    page.get_by_role("checkbox", name="Select s-002").check()
    expect(page.get_by_role("link", name="Compare")).to_have_attribute(
        "href", re.compile(r"/compare\?a=s-001&b=s-002$")
    )


def test_what_is_new_waits_while_a_row_has_the_focus(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?agent_id=newcomer")
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    site.send(*({**event, "agent_id": "newcomer"} for event in session(900)))
    row = page.get_by_role("link", name="s-900")
    expect(row).to_be_visible()
    row.focus()
    site.send(*({**event, "agent_id": "newcomer"} for event in session(901)))
    button = page.get_by_role("button", name="1 new")
    expect(button).to_be_visible()
    assert rows(page) == 1
    button.click()
    expect(page.get_by_role("link", name="s-901")).to_be_visible()


@pytest.mark.parametrize("role", ["admin", "reader"])
def test_a_phone_shows_two_lines_a_row(visit: Opened, role: str) -> None:
    page = visit(role, "sessions?live=0", viewport=NARROW)
    table = page.get_by_role("table", name="Sessions")
    first = table.get_by_role("row").nth(1)
    expect(first.get_by_role("cell")).to_have_count(4)
    box = first.bounding_box()
    assert box is not None
    assert 50 <= box["height"] <= 70
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == NARROW["width"]
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Events").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Events")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Sessions").click()
    page.get_by_role("button", name="Filters").click()
    dialog = page.get_by_role("dialog", name="Filters")
    expect(dialog.get_by_role("combobox", name="Environment")).to_be_visible()
