"""Members of two organizations: each sees what the permissions allow, and nothing of the others."""

import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote

import pytest
from playwright.sync_api import Error, Page, Response, Route, expect

from shared.access.permissions.builtin_sets import BUILTIN_SETS
from tests.support.people import add_member, new_email, signed_in
from tests.ui.browser.conftest import Opened
from tests.ui.browser.planted import HOSTILE, PERMISSION_SETS, PLAIN, Planted, follow, settled
from tests.ui.browser.site import Person, Site

HOLDS = "text => document.documentElement.outerHTML.includes(text)"
SQL = {"link Open in SQL": "queries:run"}
# A page → its actions, each a role and its names, and the permission that each needs.
ACTIONS: dict[str, dict[str, str]] = {
    "sessions?live=0": SQL,
    "sessions/{session}": {
        "button Re-evaluate": "evaluations:trigger",
        "button Export": "events:read",
        **SQL,
    },
    "compare?a={session}&b={session}": {},
    "events?live=0": SQL,
    "errors?t=all": SQL,
    "latency?t=all": SQL,
    "evaluations?t=all": SQL,
    "costs": {"button Set a price": "settings:write"},
    "sql/{query}": {
        "button Run": "queries:run",
        "button Save": "queries:write",
        "button Add to dashboard": "dashboards:write",
        "button Delete {query name}": "queries:delete",
    },
    "dashboards": {
        "button New dashboard": "dashboards:write",
        "button Delete": "dashboards:delete",
    },
    "dashboards/{dashboard}": {
        "button Edit layout": "dashboards:write",
        "button Add tile": "dashboards:write",
    },
    "alerts": {"link New alert": "alerts:write"},
    "alerts/{alert}": dict.fromkeys(
        ("button Save", "button Send test", "button Delete"), "alerts:write"
    ),
    "incidents": {"button Open incident": "incidents:write"},
    "incidents/{incident}": {
        f"button {name}": "incidents:ack"
        for name in ("Acknowledge", "Assign", "Subscribe|Unsubscribe", "Resolve", "Add comment")
    },
    "audits": {"button New audit": "audits:write"},
    "audits/{audit}": dict.fromkeys(
        ("button Run now", "button Edit", "button Delete"), "audits:write"
    ),
    "findings": {},
    "findings/{finding}": {
        "button Run query": "queries:run",
        **{
            f"button {name}": "audits:write"
            for name in ("Acknowledge", "Assign", "Resolve", "Mute", "Dismiss")
        },
    },
    "keys": {
        "button New key": "keys:create",
        "button Edit permissions": "keys:update",
        "button Regenerate": "keys:regenerate",
        "button Disable": "keys:disable",
    },
    "members": {
        "button Invite": "users:create",
        "button Edit": "users:update",
        "button Disable": "users:delete",
    },
    "permission-sets": dict.fromkeys(
        ("button New permission set", "button Edit", "button Delete"), "settings:write"
    ),
    "settings": {"button Use the default": "settings:write"},
    "model-windows": dict.fromkeys(
        ("button New window", "button Edit", "button Delete"), "settings:write"
    ),
    "prices": dict.fromkeys(("button New price", "button Edit", "button Delete"), "settings:write"),
    "audit-log": {"button Export": "settings:read"},
    "sources": {},
    "usage": {},
    "start": {"button Create a key": "keys:create"},
}
# Pages that only some may see.
GUARDED = {
    "alerts/new": ("New alert", "alerts:write"),
    "deletions": ("Deletions", "events:delete"),
}


def path_of(planted: Planted, page: str) -> str:
    """Returns the path of a page of the organization."""
    ids = {name: quote(value, safe="") for name, value in planted.pages.items()}
    return f"/o/{planted.org.slug}/{page.format(**ids)}"


class Heard:
    """The answers of the API that a page got."""

    def __init__(self, page: Page) -> None:
        self._answers: list[Response] = []
        page.context.on("response", lambda answer: self._answers.append(answer))

    def texts(self) -> Iterator[str]:
        """Yields address, request and answer of each, and forgets them."""
        answers, self._answers[:] = [*self._answers], []
        for answer in answers:
            if "/v1/" in answer.url:
                yield answer.url + (answer.request.post_data or "")
                # An answer that no page waits for any more has no text.
                with suppress(Error):
                    yield answer.text()


def walk(page: Page, planted: Planted, role: str, others: str) -> None:
    """Visits every page, and compares its actions with the permissions of the role."""
    held = BUILTIN_SETS[PERMISSION_SETS[role]].permissions
    heard, query = Heard(page), query_name(planted)
    for path, actions in ACTIONS.items():
        follow(page, path_of(planted, path))
        settled(page)
        main = page.get_by_role("main")
        for action, permission in actions.items():
            kind, _, name = action.partition(" ")
            name = name.replace("{query name}", query)
            named = re.compile(f"^({name})$") if "|" in name else name
            found = main.get_by_role(kind, name=named, exact=True)  # type: ignore[arg-type]
            if permission in held:
                expect(found.first).to_be_visible()
            else:
                expect(found).to_have_count(0)
        assert not page.evaluate(HOLDS, others), path
        for text in heard.texts():
            assert others not in text, path
    for path, (heading, permission) in GUARDED.items():
        follow(page, path_of(planted, path))
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        needed = page.get_by_role("heading", name=f"You need the permission {permission}.")
        expect(needed).to_have_count(0 if permission in held else 1)
        if permission not in held:
            expect(page.get_by_text(f"Ask: {planted.people['admin'].email}")).to_be_visible()


def query_name(planted: Planted) -> str:
    """Returns the name of the saved query."""
    return str(planted.api.get("/queries")["queries"][0]["name"])


@pytest.mark.parametrize("role", PERMISSION_SETS)
def test_a_member_sees_the_actions_that_the_permissions_allow(
    visit: Opened, ours: Planted, rival: Planted, role: str
) -> None:
    page = visit(ours.people[role], path_of(ours, "sessions?live=0"))
    walk(page, ours, role, HOSTILE)


@pytest.mark.parametrize("role", ["standard", "reader"])
def test_so_does_a_member_of_the_other_organization(
    visit: Opened, ours: Planted, rival: Planted, role: str
) -> None:
    page = visit(rival.people[role], path_of(rival, "sessions?live=0"))
    walk(page, rival, role, PLAIN)


def test_an_organization_of_others_is_like_none(
    visit: Opened, ours: Planted, rival: Planted
) -> None:
    page = visit(ours.people["admin"], path_of(rival, "sessions"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    shown = page.get_by_role("main").inner_text()
    for path in (
        "/o/nowhere/sessions",
        "/o/%E2%82%AC/sessions",
        "/o/a%0Ab/keys",
        path_of(rival, "keys"),
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        assert page.get_by_role("main").inner_text() == shown
        assert HOSTILE not in page.content()


def test_a_change_of_organization_leaves_nothing_behind(
    visit: Opened, site: Site, ours: Planted, rival: Planted
) -> None:
    email = new_email()
    for planted in (ours, rival):
        user_id = add_member(site.runtime, planted.org, email=email)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    page = visit(Person(email, token), path_of(ours, "keys"))
    held: list[Route] = []

    def hold(route: Route) -> None:
        is_ours = route.request.headers.get("x-service-org") == ours.org.slug
        (held.append if is_ours else Route.continue_)(route)

    main = page.get_by_role("main")
    for path in ("keys", "events", "incidents", "evaluations"):
        follow(page, path_of(ours, path))
        expect(main).to_contain_text(PLAIN)
        page.route("**/v1/**", hold)
        page.get_by_role("button", name="Refresh", exact=True).click()
        page.get_by_role("button", name=re.compile("^Organization: ")).click()
        page.get_by_role("menuitemradio").filter(has_text=HOSTILE).click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(main).to_contain_text(HOSTILE)
        assert held
        for route in held:
            with suppress(Error):
                route.fulfill(response=route.fetch())
        held.clear()
        settled(page)
        expect(main).not_to_contain_text(PLAIN)
        assert PLAIN not in page.title()
        page.unroute("**/v1/**")


def test_a_permission_that_is_taken_away_counts_in_place(
    visit: Opened, site: Site, ours: Planted
) -> None:
    email = new_email()
    user_id = add_member(site.runtime, ours.org, permission_set="read-only", email=email)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    page = visit(Person(email, token), path_of(ours, "events"))
    main = page.get_by_role("main")
    expect(main).to_contain_text(PLAIN)
    grant = b'{"permission_set": "read-only", "permission_removed": ["events:read", "keys:read"]}'
    status, answer = ours.api.request(
        "PUT", f"/users/{user_id}", grant, Content_Type="application/json"
    )
    assert status == 200, answer
    # The list is live: it finds out by itself.
    for heading, permission in (("Events", "events:read"), ("Keys", "keys:read")):
        needed = page.get_by_role("heading", name=f"You need the permission {permission}.")
        expect(needed).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(main.get_by_text(f"Ask: {ours.people['admin'].email}")).to_be_visible()
        expect(main).not_to_contain_text(re.compile(rf"{PLAIN} \w"))
        page.get_by_role("link", name="Keys").click()
