"""Fields with choices: what Enter takes, also while they load, and what leaving a field drops."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.ui.browser.conftest import Opened

AGENTS = "**/v1/events/agent_ids"


def agent_of(page: Page) -> Locator:
    """Returns the filter "Agent"."""
    return page.get_by_role("search", name="Filters").get_by_role(
        "combobox", name="Agent", exact=True
    )


def chips(page: Page) -> Locator:
    """Returns what is filtered by."""
    return page.get_by_role("button", name=re.compile("^Remove Agent: "))


@pytest.mark.parametrize("left", [False, True])
def test_enter_waits_for_the_choices(visit: Opened, left: bool) -> None:
    page = visit("admin", "sessions?live=0")
    waiting: list[Route] = []
    page.route(AGENTS, lambda route: waiting.append(route))
    agent = agent_of(page)
    with page.expect_request(AGENTS):
        agent.fill("bill")
    agent.press("Enter")
    expect(agent).to_have_attribute("aria-busy", "true")
    if left:
        agent.blur()
    expect(chips(page)).to_have_count(0)
    for route in waiting:
        route.fulfill(json=["billing", "support"])
    expect(page.get_by_role("button", name="Remove Agent: billing")).to_be_visible()
    expect(chips(page)).to_have_count(1)


def test_enter_takes_a_text_only_where_the_list_says_so(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    page.route(AGENTS, lambda route: route.fulfill(json=["billing", "bills", "support"]))
    agent, note = agent_of(page), page.get_by_text(re.compile("uses “|Nothing fits"))
    agent.fill("bil")
    expect(note).to_have_text("Shift+Enter uses “bil”")
    agent.press("Enter")
    expect(agent).to_have_value("bil")
    expect(chips(page)).to_have_count(0)
    agent.press("ArrowDown")
    agent.press("Enter")
    expect(chips(page)).to_have_text(["Agent billing"])
    agent.fill("bil")
    agent.press("Shift+Enter")
    expect(chips(page)).to_have_text(["Agent billing", "Agent bil"])
    agent.fill("nobody")
    expect(note).to_have_text("Enter uses “nobody”")
    agent.press("Enter")
    expect(page.get_by_role("button", name="Remove Agent: nobody")).to_be_visible()
    status = page.get_by_role("combobox", name="Status", exact=True)
    status.fill("nothing")
    expect(note).to_have_text("Nothing fits")
    status.press("Enter")
    expect(page.get_by_role("button", name=re.compile("^Remove Status: "))).to_have_count(0)


def test_leaving_takes_nothing_that_was_typed(visit: Opened) -> None:
    """Neither in a filter nor in a form, which says so."""
    page = visit("admin", "sessions?live=0")
    agent = agent_of(page)
    agent.fill("nobody")
    agent.blur()
    expect(agent).to_have_value("")
    expect(chips(page)).to_have_count(0)
    page = visit("admin", "alerts/new")
    page.get_by_role("checkbox", name="email").check()
    recipients = page.get_by_role("combobox", name="Recipients")
    recipients.fill("ada@example.com")
    recipients.blur()
    expect(recipients).to_have_value("")
    expect(page.get_by_role("button", name="Remove ada@example.com")).to_have_count(0)
    expect(
        page.get_by_role("status").filter(has_text="“ada@example.com” was not taken")
    ).to_be_visible()
