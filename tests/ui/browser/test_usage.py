"""The page "Usage": counters of a window, and limits with what of them is used."""

import json

import pytest
from playwright.sync_api import Locator, expect

from tests.flows.api import Api
from tests.support.app import new_key
from tests.support.people import add_member, new_email, signed_in
from tests.support.runtime import make_org
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Person, Site, session


def test_usage_is_that_of_a_window(visit: Opened) -> None:
    page = visit("admin", "usage")
    agents = page.get_by_role("region", name="Agents")
    expect(agents.get_by_role("definition").first).not_to_have_text("0")
    windows = page.get_by_role("table", name="Windows")
    expect(windows.get_by_role("row").nth(1)).to_contain_text("Shown above")
    expect(page.get_by_role("region", name="Limits")).to_have_count(0)


@pytest.mark.parametrize(
    ("mode", "refused", "statuses"),
    [
        ("enforce", "Requests refused today", (202, 429)),
        ("report", "Requests over a limit today", (202, 202)),
    ],
)
def test_limits_are_shown_with_what_of_them_is_used(
    visit: Opened, site: Site, mode: str, refused: str, statuses: tuple[int, int]
) -> None:
    org, email = make_org(site.runtime), new_email()
    user_id = add_member(site.runtime, org, email=email)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    secret = new_key(site.runtime, org)["Authorization"].removeprefix("Bearer ")
    api = Api(site.api.port, secret)

    def put(setting: str, value: int | str) -> None:
        path, body = f"/settings/limits.{setting}", json.dumps({"value": value}).encode()
        assert api.request("PUT", path, body, Content_Type="application/json")[0] == 200

    def post(index: int) -> int:
        body = json.dumps(session(index)).encode()
        return api.request("POST", "/events", body, Content_Type="application/json")[0]

    def figure(name: str) -> Locator:
        return limits.get_by_role("term").filter(has_text=name).locator("+ dd")

    put("mode", mode)
    put("org_events_per_day", 10)
    put("key_events_per_sec", 5000)
    page = visit(Person(email, token), f"/o/{org.slug}/usage")
    limits = page.get_by_role("region", name="Limits")
    expect(figure("Events today")).to_have_text("0 of 10")
    expect(figure("Events of a key")).to_have_text("5,000 a second")
    expect(figure("Requests of a key")).to_have_count(0)
    expect(figure(refused)).to_have_text("0")
    assert (post(0), post(1)) == statuses
    page.get_by_role("button", name="Refresh").click()
    expect(figure("Events today")).to_have_text("6 of 10")
    expect(figure(refused)).to_have_text("1")
