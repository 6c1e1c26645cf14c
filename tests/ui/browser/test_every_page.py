"""Rules that hold for every page: title, heading, accessibility in both themes, and permissions."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.ui.browser.accessible import settle, violations
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site

# Path below the organization → h1, and the permission that it needs.
PAGES = {
    "start": ("Send your first event", None),
    "sessions": ("Sessions", "evaluations:read"),
    "sessions/s-005": ("s-005", "events:read"),
    "compare?a=s-001&b=s-002": ("Compare sessions", "events:read"),
    "events": ("Events", "events:read"),
    "errors": ("Errors", "events:read"),
    "latency": ("Latency", "events:read"),
    "evaluations": ("Evaluations", "evaluations:read"),
    "costs": ("Costs", "events:read"),
    "sql": ("SQL", "queries:read"),
    "dashboards": ("Dashboards", "dashboards:read"),
    "alerts": ("Alerts", "alerts:read"),
    "alerts/new": ("New alert", "alerts:write"),
    "incidents": ("Incidents", "incidents:read"),
    "audits": ("Audits", "audits:read"),
    "findings": ("Findings", "audits:read"),
    "keys": ("Keys", "keys:read"),
    "members": ("Members", "users:read"),
    "permission-sets": ("Permission sets", "users:read"),
    "settings": ("Settings", "settings:read"),
    "model-windows": ("Model windows", "settings:read"),
    "prices": ("Prices", "settings:read"),
    "audit-log": ("Audit log", "settings:read"),
    "sources": ("Sources", "events:read"),
    "deletions": ("Deletions", "events:delete"),
    "usage": ("Usage", "settings:read"),
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_in_both_themes(visit: Opened, axe: Path, path: str) -> None:
    heading, _ = PAGES[path]
    page = visit("admin", path, script=axe, color_scheme="light", reduced_motion="reduce")
    settle(page, heading)
    assert page.title().startswith(f"{heading} · ")
    assert page.title().endswith(" · Watchpost")
    assert page.locator("h1").count() == 1
    assert violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page, "color-contrast") == []
    page.set_viewport_size(NARROW)
    settle(page, heading)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


@pytest.mark.parametrize(("path", "heading"), [("/sign-in", "Sign in"), ("/profile", "Profile")])
def test_pages_outside_an_organization_are_accessible(
    visit: Opened, axe: Path, path: str, heading: str
) -> None:
    page = visit("admin" if path == "/profile" else None, path, script=axe, reduced_motion="reduce")
    settle(page, heading)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert violations(page, "color-contrast") == []


def test_without_permissions_a_page_says_what_is_missing(visit: Opened, site: Site) -> None:
    page = visit("nobody", "sessions")
    for path, (heading, permission) in PAGES.items():
        if permission is None or "/" in path or "?" in path:
            continue
        page.goto(site.path(path))
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(
            page.get_by_role("heading", name=f"You need the permission {permission}.")
        ).to_be_visible()
        expect(page.get_by_text(f"Ask: {site.people['admin'].email}")).to_be_visible()
    navigation = page.get_by_role("navigation", name="Main")
    expect(navigation.get_by_role("link")).to_have_count(0)


@pytest.mark.parametrize("role", ["admin", "standard", "reader"])
def test_the_navigation_leads_only_to_pages_one_may_see(visit: Opened, role: str) -> None:
    page = visit(role, "sessions?live=0")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    expect(links.first).to_be_visible()
    # Open incidents are counted beside the name of their page, on a line of their own.
    for name in [text.partition("\n")[0] for text in links.all_inner_texts()]:
        links.filter(has_text=name).first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.get_by_text("You need the permission")).to_have_count(0)
