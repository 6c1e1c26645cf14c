"""Waits for a page to settle, and collects the objections of axe-core."""

from typing import Any

from playwright.sync_api import Page, expect


def settle(page: Page, heading: str) -> None:
    """Waits until the page has read what it shows."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    expect(page.locator("main .skeleton")).to_have_count(0)


def violations(page: Page, *rules: str) -> list[str]:
    """Returns what axe-core objects to: by all of its rules, or only by these."""
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found: list[dict[str, Any]] = page.evaluate(
        "options => axe.run(document, options).then(result => result.violations)",
        {"resultTypes": ["violations"], **only},
    )
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"]
    ]
