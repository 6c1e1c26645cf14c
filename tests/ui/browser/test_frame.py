"""Everything around a page: menus, palette, keys, focus, titles, and sizes of targets."""

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site, session

# The key after `g` → the h1 of the page that it leads to.
PAGES_BY_KEY = {
    "e": "Events",
    "x": "Errors",
    "l": "Latency",
    "v": "Evaluations",
    "c": "Costs",
    "q": "SQL",
    "d": "Dashboards",
    "a": "Alerts",
    "i": "Incidents",
    "u": "Audits",
    "s": "Sessions",
}

# Returns what can be pressed and is smaller than so many pixels. A row's link fills its row.
SMALL_TARGETS = """
least => [...document.querySelectorAll('button, a[href], input')].filter(element => {
  const { width, height, bottom } = element.getBoundingClientRect();
  const covered = element.closest('label') ?? element.closest('td[data-narrow=title]');
  return width && height && bottom > 0 && !covered && Math.min(width, height) < least - 0.5;
}).map(element => element.getAttribute('aria-label') ?? element.textContent)
"""


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_the_title_names_page_and_organization(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?live=0")
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    name = page.get_by_role("button", name="Organization: ").inner_text()
    assert page.title() == f"Sessions · {name} · Watchpost"
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("link", name="Errors").click()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert page.title() == f"Errors · {name} · Watchpost"


def test_the_menus_work_by_keyboard(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?live=0")
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    button = page.get_by_role("button", name="Organization: ")
    button.press("Enter")
    here = page.get_by_role("menuitemradio", checked=True)
    expect(here).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    button.press("Enter")
    expect(here).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitemradio", checked=False)).to_be_focused()
    page.keyboard.press("Enter")
    # An organization without sessions leads on to this page, whose heading then takes the focus.
    expect(page).to_have_url(re.compile(f"/o/{site.other.slug}/start"))
    heading(page, "Send your first event")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    # After a click the pointer would rest on an item, which then takes the focus.
    page.get_by_role("button", name="Account").press("Enter")
    items = page.get_by_role("menu", name="Account").get_by_role("menuitem")
    expect(items.first).to_be_focused()
    names = ["Profile", "Send your first event", "Keyboard shortcuts", "Sign out"]
    expect(items).to_have_text(names)
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    heading(page, "Profile")
    # The navigation stays that of the organization that was open.
    expect(page.get_by_role("link", name="Sessions")).to_have_attribute(
        "href", f"/o/{site.other.slug}/sessions"
    )


def test_the_palette_finds_pages_and_things(visit: Opened, site: Site) -> None:
    body = json.dumps({"name": "Flights by hour", "sql_text": "SELECT 1"}).encode()
    status, made = site.api.request("POST", "/queries", body, Content_Type="application/json")
    assert status == 201, made
    page = visit("admin", "events?live=0")
    button = page.get_by_role("button", name="Search or jump to")
    button.click()
    dialog = page.get_by_role("dialog", name="Command palette")
    box = dialog.get_by_role("combobox", name="Search or jump to")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    page.keyboard.press("Control+k")
    options = dialog.get_by_role("option")
    box.fill("latency")
    expect(options.first).to_have_text(re.compile("^LatencyPage"))
    box.fill("by flights")
    expect(options.first).to_have_text(re.compile("^Flights by hourSaved query"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/sql/{json.loads(made)['id']}$"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Control+k")
    # Sessions are found by their ids, also if they are not among the newest.
    box.fill("s-05")
    expect(options.last).to_have_text(re.compile("^Open session s-05Session"))
    box.fill("s-055")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    heading(page, "s-055")
    page.keyboard.press("Control+k")
    box.fill("dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    site.api.request("DELETE", f"/queries/{json.loads(made)['id']}")


def test_every_page_has_its_keys(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    for key, name in PAGES_BY_KEY.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        heading(page, name)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_role("term").filter(has_text="Refresh")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_role("status").filter(has_text="Copy link: copied")).to_be_visible()
    with page.expect_request("**/v1/sessions?*"):
        page.keyboard.press("r")
    # In a field a letter is a letter.
    page.keyboard.press("/")
    page.keyboard.press("t")
    expect(page.get_by_role("combobox", name="Session", exact=True)).to_have_value("t")
    page.goto("/profile")
    page.get_by_role("checkbox", name="Single-key shortcuts").uncheck()
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.keyboard.press("Control+k")
    # The palette is the first dialog, so the keys before it did nothing.
    expect(page.get_by_role("dialog")).to_have_count(1)
    expect(page.get_by_role("dialog", name="Command palette")).to_be_visible()
    heading(page, "Profile")


def test_a_dialog_keeps_the_focus_and_gives_it_back(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    button = page.get_by_role("button", name="Time range: ")
    button.press("Enter")
    dialog = page.get_by_role("dialog", name="Time range")
    expect(dialog.get_by_role("radio", name="All time")).to_be_focused()
    inside = "document.querySelector('dialog').contains(document.activeElement)"
    outside = "document.activeElement === document.body"
    for _ in range(8):
        page.keyboard.press("Tab")
        # Between the last field and the first one is the browser itself.
        assert page.evaluate(f"{inside} || {outside}")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()


def test_an_id_of_odd_characters_is_a_path(visit: Opened, site: Site) -> None:
    name = "odd/id?#100%,ü:1"
    agent = "odd"
    site.send(*({**event, "session_id": name, "agent_id": agent} for event in session(910)))
    page = visit("admin", f"sessions?live=0&agent_id={agent}")
    page.get_by_role("table", name="Sessions").get_by_role("link").click()
    heading(page, name)
    assert f"/sessions/{quote(name, safe='')}?list=" in page.url
    page.reload()
    heading(page, name)
    page.go_back()
    heading(page, "Sessions")
    expect(page.get_by_role("button", name=f"Remove Agent: {agent}")).to_be_visible()


def test_a_reload_leads_to_the_row(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    table = page.get_by_role("table", name="Sessions")
    expect(table.get_by_role("row")).to_have_count(51)
    # A click would scroll there first, and then the button presses itself.
    page.get_by_role("button", name="Load more").dispatch_event("click")
    last = table.get_by_role("link").last
    expect(table.get_by_role("row").nth(55)).to_be_attached()
    name = last.inner_text()
    last.focus()
    page.reload()
    expect(table.get_by_role("link", name=name)).to_be_in_viewport()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/sessions/s-\d+"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.go_back()
    expect(table.get_by_role("link", name=name)).to_be_in_viewport()


def test_open_incidents_are_counted(visit: Opened) -> None:
    page = visit("admin", "/profile")
    page.route("**/alerts/incidents/count", lambda route: route.fulfill(json={"count": 2}))
    page.reload()
    expect(page.get_by_role("link", name="Incidents 2 open")).to_be_visible()


@pytest.mark.parametrize("touch", [False, True])
def test_targets_of_a_phone_are_large_enough(visit: Opened, touch: bool) -> None:
    options = {"has_touch": True, "is_mobile": True} if touch else {}
    least = 44 if touch else 32
    page = visit("admin", "sessions?live=0&environment=staging", viewport=NARROW, **options)
    expect(page.get_by_role("button", name="Remove Environment: staging")).to_be_visible()
    assert page.evaluate(SMALL_TARGETS, least) == []
    menu = page.get_by_role("button", name="Menu")
    menu.click()
    expect(menu).to_have_attribute("aria-expanded", "true")
    assert page.evaluate(SMALL_TARGETS, least) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Main")).to_have_count(0)
    expect(menu).to_be_focused()
    page.get_by_role("button", name="Filters", exact=True).click()
    expect(page.get_by_role("dialog", name="Filters")).to_be_visible()
    assert page.evaluate(SMALL_TARGETS, least) == []


def test_reduced_motion_is_none(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0", reduced_motion="reduce")
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    moving = """[...document.querySelectorAll('*')].filter(element => {
      const { transitionDuration, animationName } = getComputedStyle(element);
      return animationName !== 'none' || transitionDuration.split(', ').some(one => one !== '0s');
    }).length"""
    assert page.evaluate(moving) == 0
