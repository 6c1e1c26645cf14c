"""Pages of aggregates whose reads fail: the error, a missing permission, and a busy server."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.ui.browser.conftest import Opened

READS = {
    "latency": "events/latency_aggregate",
    "evaluations": "evaluations/aggregate",
}


def answer_once(page: Page, path: str, status: int, body: dict[str, str], **headers: str) -> None:
    """Makes the server refuse the next read of a path."""
    text = json.dumps({"code": "made_up", "request_id": "0123abcd", **body})

    def refuse(route: Route) -> None:
        route.fulfill(
            status=status, body=text, headers={"Content-Type": "application/json", **headers}
        )

    page.route(f"**/v1/{path}*", refuse, times=1)


@pytest.mark.parametrize(("name", "path"), READS.items())
def test_a_read_that_fails_is_tried_again(visit: Opened, name: str, path: str) -> None:
    page = visit("admin", "start")
    answer_once(page, path, 422, {"error": "the range is odd"})
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name.title()).click()
    main = page.get_by_role("main")
    alert = main.get_by_role("alert")
    expect(alert).to_contain_text("The range is odd")
    expect(alert).to_contain_text("request 0123abcd")
    answer_once(page, path, 403, {"error": "no", "required_permission": "events:read"})
    alert.get_by_role("button", name="Try again").click()
    expect(main.get_by_role("heading", name="You need the permission events:read.")).to_be_visible()
    answer_once(page, path, 429, {"error": "busy"}, **{"Retry-After": "3"})
    page.get_by_role("button", name="Refresh").click()
    expect(main.get_by_text("The server is busy. Trying again in 3 s.")).to_be_visible()
    expect(main.get_by_text("You need the permission")).to_have_count(0)
    expect(main.get_by_text("The server is busy")).to_have_count(0)
    expect(main.locator("[aria-busy=true]")).to_have_count(0)
