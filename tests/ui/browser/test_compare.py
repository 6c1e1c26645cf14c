"""Two sessions beside each other."""

import json
from datetime import timedelta

from playwright.sync_api import expect

from tests.support.processes import wait_until
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site, newcomer
from tests.ui.browser.trip import ago

COUNT = 120


def calls(name: str, last: str) -> list[bytes]:
    """Returns a session of calls; the text of its last one ends with `last`."""
    begun = ago(7200)
    return [
        json.dumps(
            {
                "session_id": name,
                "agent_id": "desk",
                "type": "tool_use",
                "timestamp": (begun + timedelta(seconds=place)).isoformat(),
                "tool_name": "search",
                "tool_call_id": str(place),
                "input": f"{'x' * 200} {last if place == COUNT - 1 else place}",
            }
        ).encode()
        for place in range(COUNT)
    ]


def test_sessions_are_identical_only_once_their_payloads_were_compared(
    visit: Opened, site: Site
) -> None:
    """Summaries hold the beginning of a text, and payloads are read when they come into view."""
    org, person, api = newcomer(site)
    for name in ("one", "other"):
        api.deliver(calls(name, name))
    wait_until(lambda: sum(row["event_count"] for row in api.rows("sessions")) == 2 * COUNT)
    page = visit(person, f"/o/{org.slug}/compare?a=one&b=other")
    status = page.locator(".divergence").get_by_role("status")
    expect(status).to_have_text(f"Same steps in all {COUNT} events")
    table = page.get_by_role("table", name="Alignment")
    table.get_by_role("row").nth(1).click()
    expect(page.get_by_role("complementary")).to_contain_text("The payloads are equal")
    expect(status).to_have_text(f"Same steps in all {COUNT} events")
    page.locator(".alignment").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    texts = f"other texts from event {COUNT}"
    expect(status).to_have_text(f"Same steps in all {COUNT} events, {texts}")
