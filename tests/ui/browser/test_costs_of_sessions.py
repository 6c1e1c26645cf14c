"""Whose a session is and what it cost: columns, filters, and the page of the session."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site, session

AGENT = "spender"


def spending(
    index: int, user: str, plan: str, *costs: str | None, **first: object
) -> list[dict[str, Any]]:
    """Returns a session with a call for each cost; None is a call without a price."""
    start, request, response, *rest = ({**event, "agent_id": AGENT} for event in session(index))
    start |= {"user_id": user, "metadata": {"plan": plan}, **first}
    priced = [
        {**response, "request_id": f"c{place}", **({"cost_usd": cost} if cost else {})}
        for place, cost in enumerate(costs)
    ]
    request["request_id"] = "c0"
    return [start, request, *priced, *rest]


def chosen(page: Page, *options: str) -> None:
    """Chooses from the menu "Columns"."""
    for option in options:
        page.get_by_role("button", name="Columns").click()
        page.get_by_role("menuitemradio", name=option).click()


def test_a_list_says_whose_sessions_are_and_what_they_cost(visit: Opened, site: Site) -> None:
    site.send(
        *spending(980, "zoe", "pro", "0.03124", agent_version="2.4.0", tags=["beta"]),
        *spending(981, "adam", "pro", "3.1", None, None),
        *spending(982, "zoe", "free", None),
    )
    page = visit("admin", f"sessions?live=0&agent_id={AGENT}")
    table = page.get_by_role("table", name="Sessions")
    one, other, free = (table.get_by_role("row", name=re.compile(f"s-98{n}")) for n in range(3))
    expect(one.get_by_text("$0.0312")).to_have_attribute("title", "$0.03124")
    expect(one.get_by_text("zoe")).to_be_visible()
    expect(other.get_by_text("≥ $3.10")).to_have_attribute("title", "2 calls without a price")
    expect(free.get_by_title("1 call without a price")).not_to_contain_text("$")
    figure = page.get_by_role("term").filter(has_text="Cost a session").locator("xpath=..")
    expect(figure.get_by_role("definition")).to_have_text(re.compile(r"^≥ \$1\.57"))

    chosen(page, "Attribute: plan", "User")
    expect(table.get_by_role("columnheader", name="Attribute: plan")).to_be_visible()
    expect(table.get_by_role("columnheader", name="User")).to_have_count(0)
    page.reload()
    expect(one.get_by_text("pro", exact=True)).to_be_visible()

    filters = page.get_by_role("search", name="Filters")
    user = filters.get_by_role("combobox", name="User")
    user.fill("zo")
    expect(page.get_by_role("option", name=re.compile("^zoe"))).to_contain_text("2")
    user.press("Enter")
    expect(page.get_by_role("button", name="Remove User: zoe")).to_be_visible()
    expect(other).to_have_count(0)
    page.keyboard.press("Escape")
    key = filters.get_by_role("combobox", name="Attribute", exact=True)
    key.fill("plan")
    key.press("Enter")
    values = filters.get_by_role("combobox", name="Attribute: plan")
    expect(values).to_be_focused()
    expect(page.get_by_text("was not taken")).to_have_count(0)
    page.get_by_role("option", name=re.compile("^free")).click()
    expect(page.get_by_role("button", name="Remove Attribute: plan: free")).to_be_visible()
    expect(one).to_have_count(0)
    expect(free).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("heading", level=1).click()
    assert not re.search("user_id|attr", page.url.split("cols=")[0])


def test_a_list_is_filtered_by_figures_and_by_what_is_missing(visit: Opened, site: Site) -> None:
    site.send(
        *spending(988, "zoe", "pro", "3.5"),
        *spending(989, "", "pro", "0.5"),
    )
    page = visit("admin", "sessions?live=0&session_id=s-988,s-989")
    links = page.get_by_role("table", name="Sessions").get_by_role("link", name=re.compile("s-98"))
    expect(links).to_have_count(2)
    filters = page.get_by_role("search", name="Filters")
    figure = filters.get_by_role("combobox", name="Figure")
    figure.fill("cost")
    figure.press("Enter")
    dialog = page.get_by_role("dialog", name="Cost")
    dialog.get_by_role("textbox", name="Min, $").fill("1")
    dialog.get_by_role("button", name="Apply").click()
    expect(links).to_have_text(["s-988"])
    figure.fill("duration")
    figure.press("Enter")
    dialog = page.get_by_role("dialog", name="Duration")
    dialog.get_by_role("textbox", name="Max, s").fill("600")
    dialog.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("button", name="Remove Duration: ≤ 10 m 00 s")).to_be_visible()
    state = parse_qs(urlsplit(page.url).query)
    assert state["metric_filters"] == ["cost_usd:1..,duration_ms:..600000"]
    page.get_by_role("button", name="Remove Cost: ≥ $1.00").click()
    expect(links).to_have_count(2)
    missing = filters.get_by_role("combobox", name="Missing")
    missing.fill("no us")
    page.get_by_role("option", name="no user").click()
    expect(page.get_by_role("button", name="Remove Missing: no user")).to_be_visible()
    expect(links).to_have_text(["s-989"])


def test_a_session_shows_its_costs(visit: Opened, site: Site) -> None:
    site.send(
        *spending(985, "zoe", "pro", "0.25", agent_version="2.4.0", tags=["beta"]),
        *spending(986, "zoe", "pro", "0.5"),
    )
    page = visit("admin", "sessions/s-985?columns=cost")
    main = page.get_by_role("main")
    for name, query in (
        ("zoe", "user_id=zoe"),
        ("2.4.0", "agent_version=2.4.0"),
        ("beta", "tag=beta"),
        ("pro", "attr.plan=pro"),
    ):
        link = main.get_by_role("link", name=name, exact=True)
        expect(link).to_have_attribute(
            "href", site.path(f"sessions?{query}").removeprefix(site.url)
        )
    call = page.get_by_role("treegrid").get_by_role("row", name=re.compile("m-1"))
    expect(call.get_by_title("$0.25", exact=True)).to_have_text("$0.25")
    costs = page.get_by_role("table", name="Costs").get_by_role("row")
    expect(costs.last.get_by_role("cell")).to_have_text(["spender", "1", "2.3k", "$0.25"])
    call.click()
    event = page.get_by_role("complementary", name="Event")
    event.get_by_role("tab", name="Cost").click()
    expect(event.get_by_role("definition").filter(has_text="$0.25").first).to_be_visible()
    expect(event.get_by_role("link", name="Set a price")).to_have_attribute(
        "href", re.compile(r"/prices\?new=m-1$")
    )
    page.goto(site.path("compare?a=s-985&b=s-986"))
    deltas = page.get_by_role("table", name="Differences")
    for name in ("Cost", "Cost of m-1"):
        row = deltas.get_by_role("row").filter(
            has=page.get_by_role("rowheader", name=name, exact=True)
        )
        expect(row.get_by_role("cell")).to_have_text(["$0.25", "$0.50", "+$0.25"])
