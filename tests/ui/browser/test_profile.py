"""The page "Profile": choices of this browser, and the person's own sessions."""

from playwright.sync_api import expect

from shared.access.users import memberships_of
from shared.access.users.sign_in.sessions import open_session
from tests.support.people import add_member, new_email
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Person, Site


def test_the_profile_stays_in_this_browser(visit: Opened) -> None:
    page = visit("admin", "/profile")
    page.get_by_role("combobox", name="Time zone").fill("Asia/Tokyo")
    page.keyboard.press("Enter")
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("radio", name="Compact").check()
    page.get_by_role("checkbox", name="Single-key shortcuts").uncheck()
    page.reload()
    expect(page.get_by_text("Asia/Tokyo").first).to_be_visible()
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    expect(page.get_by_role("radio", name="Compact")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Single-key shortcuts")).not_to_be_checked()
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("checkbox", name="Single-key shortcuts").check()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_other_sessions_are_listed_and_ended(visit: Opened, site: Site) -> None:
    email = new_email()
    add_member(site.runtime, site.org, email=email)

    def signed_in() -> Person:
        with site.runtime.postgres.transaction() as session:
            members = memberships_of(session, email=email)
            token, _ = open_session(session, site.settings, members)
        return Person(email, token)

    others = [visit(signed_in(), "sessions") for _ in range(3)]
    for other in others:
        expect(other.get_by_role("heading", level=1)).to_have_text("Sessions")
    page = visit(signed_in(), "/profile")
    rows = page.get_by_role("region", name="Sessions").get_by_role("listitem")
    expect(rows).to_have_count(4)
    current = rows.filter(has_text="This session.")
    expect(current).to_have_count(1)
    expect(current.get_by_role("button", name="Sign out")).to_have_count(0)

    rows.get_by_role("button", name="Sign out").first.click()
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Sign out everywhere else").click()
    expect(rows).to_have_count(1)
    expect(page.get_by_role("button", name="Sign out everywhere else")).to_have_count(0)
    for other in others:
        other.reload()
        expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.reload()
    expect(current).to_have_count(1)
