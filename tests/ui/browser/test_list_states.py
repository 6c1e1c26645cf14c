"""Loading, failing, waiting and long lists, and the range of time, by the list of sessions."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, Route, expect

from tests.support.processes import wait_until
from tests.ui.browser.conftest import Opened

SESSIONS = "**/v1/sessions?*"


def answer_once(page: Page, url: str, **answer: Any) -> None:
    """Answers the next request so, and passes the others on."""
    page.route(url, lambda route: route.fulfill(**answer), times=1)


@contextmanager
def answering(page: Page, url: str, **answer: Any) -> Iterator[None]:
    """Answers every request so during the block: a wait of a second is easily missed once."""
    page.route(url, lambda route: route.fulfill(**answer))
    yield
    page.unroute(url)


def held_back(page: Page) -> Callable[[], None]:
    """Holds requests for sessions back. Returns a function that lets them go."""
    waiting: list[Route] = []
    page.route(SESSIONS, lambda route: waiting.append(route))

    def release() -> None:
        for route in waiting:
            route.continue_()
        page.unroute(SESSIONS)

    return release


def test_a_failure_says_why_and_can_be_tried_again(visit: Opened) -> None:
    page = visit("admin", "sql", answers=500)
    error = {"error": "the store is away", "request_id": "r-1"}
    answer_once(page, SESSIONS, status=500, json=error, headers={"X-Request-Id": "r-1"})
    page.get_by_role("link", name="Sessions").click()
    alert = page.get_by_role("alert")
    expect(alert.get_by_role("heading")).to_have_text("The store is away")
    expect(alert).to_contain_text("request r-1")
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    expect(alert).to_have_count(0)


def test_a_busy_server_is_asked_again(visit: Opened) -> None:
    page = visit("admin", "sql", answers=503)
    busy = {"status": 503, "json": {"error": "busy"}, "headers": {"Retry-After": "1"}}
    waiting = page.get_by_role("status").filter(has_text="Trying again in 1 s")
    with answering(page, SESSIONS, **busy):
        page.get_by_role("link", name="Sessions").click()
        expect(waiting).to_be_visible()
    table = page.get_by_role("table", name="Sessions")
    expect(table).to_be_visible()
    expect(waiting).to_have_count(0)
    # The next page waits in the same way.
    with answering(page, "**/v1/sessions?*cursor=*", **(busy | {"status": 429})):
        page.get_by_role("button", name="Load more").click()
        expect(waiting).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="more below")).to_have_count(0)
    expect(waiting).to_have_count(0)


def test_a_permission_that_is_lost_meanwhile_is_named(visit: Opened) -> None:
    page = visit("admin", "sql")
    refused = {"error": "missing", "required_permission": "evaluations:read"}
    answer_once(page, SESSIONS, status=403, json=refused)
    page.get_by_role("link", name="Sessions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    needed = page.get_by_role("heading", name="You need the permission evaluations:read.")
    expect(needed).to_be_visible()
    expect(page.get_by_text("Ask: ")).to_be_visible()


def test_skeletons_come_once_and_old_rows_stay(visit: Opened) -> None:
    page = visit("admin", "sql")
    release = held_back(page)
    page.get_by_role("link", name="Sessions").click()
    expect(page.locator("main .skeleton")).to_be_visible()
    release()
    table = page.get_by_role("table", name="Sessions")
    expect(table).to_be_visible()
    expect(page.locator("main .skeleton")).to_have_count(0)
    release = held_back(page)
    page.get_by_role("button", name="Refresh").click()
    expect(table).to_have_attribute("aria-busy", "true")
    expect(table.get_by_role("row")).not_to_have_count(1)
    expect(page.locator("main .skeleton")).to_have_count(0)
    release()
    expect(table).to_have_attribute("aria-busy", "false")


def test_a_long_list_draws_only_the_rows_in_view(visit: Opened) -> None:
    page = visit("admin", "events?live=0")
    table = page.get_by_role("table", name="Events")
    shown = page.get_by_role("status").filter(has_text="events shown")
    expect(shown).to_be_visible()

    def long() -> bool:
        table.evaluate("table => table.parentElement.scrollTo(0, table.offsetHeight)")
        return int(shown.inner_text().split()[0]) > 200

    # "Load more" presses itself when it comes into view.
    wait_until(long)
    assert table.get_by_role("row").count() < 100
    expect(table).to_have_attribute("aria-rowcount", re.compile(r"^(-1|\d{3,})$"))
    last = table.get_by_role("row").last
    expect(last).to_have_attribute("aria-rowindex", re.compile(r"^\d{2,3}$"))


def test_a_range_around_the_change_of_the_clocks(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0&from=2026-10-25T00:30:00.250Z&tz=Europe/Berlin")
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    page.keyboard.press("t")
    dialog = page.get_by_role("dialog", name="Time range")
    start, end = (dialog.get_by_role("textbox", name=name) for name in ("From", "To"))
    expect(start).to_have_value("2026-10-25 02:30:00")
    expect(start).to_be_focused()
    # 02:30 comes twice. The bound of the URL is finer than its text, and stays so.
    end.fill("2026-10-25 02:45")
    expect(end).to_have_accessible_description(re.compile("The clocks show this time twice"))
    zone = dialog.get_by_role("combobox", name="Time zone")
    zone.fill("UTC")
    zone.press("Enter")
    expect(start).to_have_value("2026-10-25 00:30:00")
    expect(end).to_have_value("2026-10-25 00:45:00")
    end.fill("2026-10-25 00:30:00")
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog.get_by_role("alert")).to_have_text("“From” has to be before “To”.")
    end.fill("2026-10-25T01:45:00Z")
    zone.fill("local")
    zone.press("Enter")
    expect(end).to_have_value("2026-10-25 02:45:00")
    dialog.get_by_role("button", name="Apply").click()
    label = re.compile("Time range: 25 Oct 02:30:00 . 25 Oct 02:45:00 Europe.Berlin")
    expect(page.get_by_role("button", name=label)).to_be_visible()
    assert parse_qs(urlsplit(page.url).query) == {
        "live": ["0"],
        "from": ["2026-10-25T00:30:00.250Z"],
        "to": ["2026-10-25T01:45:00.000Z"],
    }


def test_only_the_range_excludes(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0&to=2020-01-01T00:00:00Z")
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    page.get_by_role("button", name="Go to the latest").click()
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    assert parse_qs(urlsplit(page.url).query) == {"live": ["0"]}
