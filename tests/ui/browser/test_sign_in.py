"""Signing in and out, as a person does it."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Dialog, Page, Route, expect

from shared.access.users import memberships_of
from shared.access.users.sign_in.sessions import open_session
from tests.support.processes import wait_until
from tests.support.sign_in import other_than
from tests.ui.browser.conftest import PROXY_SECRET, Opened
from tests.ui.browser.site import Site


def code_for(site: Site, page: Page, log: str) -> str:
    """Asks for a code, and returns the one that the worker wrote into its log."""
    found: list[str] = []
    page.get_by_role("button", name="Send code").click()

    def written() -> bool:
        found[:] = re.findall(r"mailed_code.*?(\d{6})", log_of(site, log))
        return bool(found)

    wait_until(written, 30)
    return found[-1]


def log_of(site: Site, name: str) -> str:
    return (site.directory / "logs" / name).read_text()


def enter(page: Page, code: str) -> None:
    page.get_by_role("textbox", name="Code").fill(code)


def with_own_session(visit: Opened, site: Site, path: str) -> Page:
    """Opens a page with a session that no other test needs, and that may end."""
    with site.runtime.postgres.transaction() as session:
        members = memberships_of(session, email=site.people["standard"].email)
        token, _ = open_session(session, site.settings, members)
    page = visit(None, "/sign-in")
    page.context.add_cookies([{"name": "service_session", "value": token, "url": site.url}])
    page.goto(site.path(path))
    return page


def sign_in_again(page: Page, token: str) -> None:
    """Signs in on the page that is shown, as if its code had been entered: this cookie is set."""
    page.route("**/v1/auth/otp/*", lambda route: route.fulfill(json={}))
    page.get_by_role("textbox", name="E-mail").fill("somebody@example.com")
    page.get_by_role("button", name="Send code").click()
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
    page.context.add_cookies([{"name": "service_session", "value": token, "url": origin}])
    enter(page, "123456")


def test_a_member_signs_in_and_gets_to_the_page_they_asked_for(visit: Opened, site: Site) -> None:
    page = visit(None, f"/o/{site.org.slug}/sessions?environment=staging")
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.get_by_role("textbox", name="E-mail").fill(site.people["admin"].email)
    code = code_for(site, page, "worker.log")
    expect(page.get_by_text("Mail is not set up: the code is in the worker's log")).to_be_visible()
    enter(page, other_than(code))
    expect(page.get_by_role("alert")).to_have_text("That code is wrong or has expired.")
    enter(page, code)
    expect(page).to_have_url(re.compile(r"/sessions\?environment=staging$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")


def test_a_provider_has_a_button_that_leads_back(visit: Opened, site: Site) -> None:
    def with_provider(route: Route) -> None:
        answer = route.fetch()
        meta = '<meta name="wp-oidc" content="Acme"><title>'
        route.fulfill(response=answer, body=answer.text().replace("<title>", meta))

    page = visit(None, "/sign-in")
    expect(page.get_by_role("button", name="Send code")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in with")).to_have_count(0)
    page.route("**/sign-in?*", with_provider)
    page.goto(f"{site.url}/sign-in?next=%2Fprofile")
    button = page.get_by_role("link", name="Sign in with Acme")
    expect(button).to_have_attribute("href", "/sign-in/oidc?next=%2Fprofile")
    expect(page.get_by_role("button", name="Send code")).to_be_visible()


def test_a_proxy_that_names_a_member_opens_all_pages(visit: Opened, site: Site) -> None:
    named = {"X-Forwarded-Email": site.people["admin"].email}
    proxied = named | {"X-Service-Proxy-Secret": PROXY_SECRET}
    page = visit(None, "sessions", extra_http_headers=proxied)
    expect(page.get_by_role("link", name="s-000")).to_be_visible()
    assert page.context.cookies() == []
    page.goto(f"{site.url}/profile")
    expect(page.get_by_text(f"Signed in as {named['X-Forwarded-Email']}")).to_be_visible()
    own = page.get_by_role("region", name="Sessions")
    expect(own).to_contain_text("The proxy in front of Watchpost signs you in and out.")
    expect(page.get_by_role("alert")).to_have_count(0)
    # Writes need an `Origin` of this host, which the browser sends by itself.
    page.goto(site.path("dashboards"))
    page.get_by_role("button", name="New dashboard").click()
    dialog = page.get_by_role("dialog", name="New dashboard")
    dialog.get_by_role("textbox", name="Name").fill("Made behind a proxy")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Made behind a proxy")

    for headers in (named, proxied | {"X-Forwarded-Email": "nowhere@example.com"}):
        stranger = visit(None, "sessions", extra_http_headers=headers)
        expect(stranger.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_signing_out_shows_nothing_of_the_last_person(visit: Opened, site: Site) -> None:
    page = with_own_session(visit, site, "sessions")
    expect(page.get_by_role("link", name="s-000")).to_be_visible()
    session: Any = page.context.cookies()
    page.get_by_role("link", name="Events").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Events")
    page.get_by_role("button", name="Account").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in$"))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_text("s-000")).to_have_count(0)
    # The session is over on the server too.
    page.context.add_cookies(session)
    page.goto(site.path())
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_an_expired_session_loses_nothing_that_was_typed(visit: Opened, site: Site) -> None:
    page = visit("admin", "keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_role("textbox", name="Name").fill("kept while signed out")
    [cookie] = page.context.cookies()
    page.context.clear_cookies()
    dialog.get_by_role("button", name="Create key").click()
    sign_in_again(page, cookie["value"])
    expect(page).to_have_url(re.compile("/keys$"))
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("kept while signed out")
    dialog.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("textbox", name="Secret")).to_be_visible()


def test_a_live_page_asks_once_and_goes_on_after_it(visit: Opened, site: Site) -> None:
    page = visit("admin", "events?environment=staging")
    expect(page.get_by_role("row", name=re.compile("s-000")).first).to_be_visible()
    [cookie] = page.context.cookies()
    page.context.clear_cookies()
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    # Each of these fails too, and none of them starts a way back of its own.
    with page.expect_response(lambda answer: answer.status == 401):
        page.evaluate("fetch('/v1/events/summary')")
    [following] = parse_qs(urlsplit(page.url).query)["next"]
    assert following == f"/o/{site.org.slug}/events?environment=staging"
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("heading", name="Events")).to_have_count(0)
    sign_in_again(page, cookie["value"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Events")
    expect(page).to_have_url(re.compile(r"/events\?environment=staging$"))
    with page.expect_response(re.compile("/v1/events/summary")) as read:
        expect(page.get_by_role("row", name=re.compile("s-000")).first).to_be_visible()
    assert read.value.status == 200
    expect(page.get_by_role("alert")).to_have_count(0)


def test_another_person_sees_nothing_that_the_last_one_typed(visit: Opened, site: Site) -> None:
    page = visit("admin", "keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_role("textbox", name="Name").fill("typed by the admin")
    page.context.clear_cookies()
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    # A form that is not saved asks before it is left, but not this person.
    asked: list[Dialog] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog)
        dialog.dismiss()

    page.on("dialog", stay)
    sign_in_again(page, site.people["reader"].token)
    expect(page).to_have_url(re.compile("/(sessions|start)$"))
    page.go_back()
    expect(page.get_by_role("button", name="New key")).to_have_count(0)
    expect(page.get_by_text("typed by the admin")).to_have_count(0)
    assert asked == []


def test_signing_out_empties_other_tabs_and_asks_for_no_form(visit: Opened, site: Site) -> None:
    page = with_own_session(visit, site, "sql")
    long = f" -- {'typed by the last person ' * 200}"
    page.get_by_role("textbox", name="SQL").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(long)
    expect(page.get_by_role("textbox", name="SQL")).to_contain_text("typed by the last person")
    wait_until(lambda: page.evaluate("sessionStorage.length") == 1)
    other = page.context.new_page()
    other.goto(site.path("incidents"))
    expect(other.get_by_role("heading", level=1)).to_have_text("Incidents")
    other.get_by_role("button", name="Account").click()
    other.get_by_role("menuitem", name="Sign out").click()
    for tab in (other, page):
        expect(tab).to_have_url(re.compile("/sign-in"))
        expect(tab.get_by_role("heading", level=1)).to_have_text("Sign in")
    stored = "JSON.stringify([sessionStorage.length, localStorage['wp-org'] ?? null])"
    assert page.evaluate(stored) == "[0,null]"


def test_next_leads_to_no_other_origin(visit: Opened, site: Site) -> None:
    page = visit("admin", "/sign-in?next=https://example.com/")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.goto(f"{site.url}/")
    # Which organization comes first differs, and one of them has no sessions.
    expect(page).to_have_url(re.compile(f"^{site.url}/o/({site.org.slug}|{site.other.slug})/"))
    expect(page.get_by_role("heading", level=1)).to_have_text(
        re.compile("Sessions|Send your first event")
    )
    another = visit("admin", "/o/nowhere/sessions")
    expect(another.get_by_role("heading", level=1)).to_have_text("Not found")
