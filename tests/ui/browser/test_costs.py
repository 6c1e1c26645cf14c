"""What calls cost: figures, groups, and models without a price."""

import json
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.flows.api import Api
from tests.support.people import add_member, new_email, signed_in
from tests.support.processes import wait_until
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Person, Site, newcomer


def call(session: str, days: int, **fields: object) -> bytes:
    """Returns a call of so many days ago."""
    moment = datetime.now(UTC) - timedelta(days=days)
    event = {"type": "model_response", "session_id": session, "timestamp": moment.isoformat()}
    return json.dumps({**event, "agent_id": "a", "environment": "prod", **fields}).encode()


def plant_calls(api: Api) -> None:
    """Sends a call with a computed cost, one with a reported one, and one without a price."""
    prices = {"input": 3, "output": 15, "cache_read": 0.3}
    body = json.dumps({"model": "house-1", "prices": prices}).encode()
    status, answer = api.request("POST", "/prices", body, Content_Type="application/json")
    assert status == 201, answer
    tokens = {"input_tokens": 1_000_000, "cache_read_tokens": 400_000, "output_tokens": 100_000}
    calls = [
        call("c-1", 3, model="house-1", user_id="zoe", **tokens),
        call("c-2", 2, model="house-1", user_id="adam", input_tokens=100_000, cost_usd=0.5),
        call("c-3", 1, model="mystery", user_id="adam", input_tokens=100_000),
    ]
    api.deliver(calls)
    wait_until(lambda: len(list(api.rows("sessions"))) == len(calls))


def figure(page: Page, name: str) -> Locator:
    """Returns the value of a key figure."""
    terms = page.get_by_role("term").filter(has=page.get_by_text(name, exact=True))
    return terms.first.locator("xpath=following-sibling::dd")


def test_costs_by_a_dimension_and_without_a_price(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    page = visit(person, f"/o/{org.slug}/costs")
    expect(page.get_by_role("heading", name="No costs yet")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(
        "Costs come from model_response events with tokens"
    )
    plant_calls(api)
    page.get_by_role("button", name="Refresh").click()
    expect(figure(page, "Cost")).to_contain_text("≥ $3.92")
    expect(figure(page, "Cost").get_by_title("1 call without a price")).to_be_visible()
    expect(figure(page, "Cost a session")).to_contain_text("≥ $1.31")
    expect(figure(page, "Cached share")).to_contain_text("33.3 %")
    expect(figure(page, "Without a price")).to_contain_text("33.3 %")
    reported = page.get_by_role("region", name="Reported and computed")
    expect(reported).to_contain_text(re.compile(r"\$0\.50.*\$3\.72.*\$0\.20", re.DOTALL))
    table = page.get_by_role("table", name="Costs")
    rows = table.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("house-1")
    # A dash, and never "$0".
    expect(rows.nth(2)).to_contain_text(re.compile("^mystery[^$]*$"))

    in_sql = page.get_by_role("toolbar", name="View").get_by_role("link", name="Open in SQL")
    expect(in_sql).to_have_attribute("href", re.compile(r"/sql\?of=/costs%3F.*group_by%3Dmodel"))
    page.get_by_role("tablist", name="Group by").get_by_role("tab", name="User").click()
    expect(rows.nth(1)).to_contain_text("zoe$3.42")
    expect(rows.nth(2)).to_contain_text("adam≥ $0.50")
    drawn = page.get_by_role("table", name="Cost over time: data")
    expect(drawn.get_by_role("columnheader")).to_have_text(["Time", "zoe", "adam"])
    table.get_by_role("button", name="Calls").click()
    expect(rows.nth(1)).to_contain_text("adam")
    assert parse_qs(urlsplit(page.url).query) == {"group_by": ["user_id"], "sort": ["calls"]}
    rows.nth(2).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    expect(page.get_by_role("button", name="Remove User: zoe")).to_be_visible()
    expect(page.get_by_role("table", name="Sessions").get_by_role("row")).to_have_count(2)


def test_a_price_is_set_and_stored_calls_get_it(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    plant_calls(api)
    page = visit(person, f"/o/{org.slug}/costs")
    missing = page.get_by_role("table", name="Without a price")
    missing.get_by_role("row", name="mystery").get_by_role("button", name="Set a price").click()
    dialog = page.get_by_role("dialog", name="New price")
    expect(dialog.get_by_role("textbox", name="Model")).to_have_value("mystery")
    dialog.get_by_role("textbox", name="Input", exact=True).fill("1")
    dialog.get_by_role("textbox", name="Output", exact=True).fill("0")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert {row["model"] for row in api.get("/prices")["prices"]} == {"house-1", "mystery"}

    page.get_by_role("link", name="Reprice stored calls").click()
    dialog = page.get_by_role("dialog", name="Reprice")
    fields = [dialog.get_by_role("textbox", name=name) for name in ("From", "To")]
    begun, ended = (field.input_value() for field in fields)
    fields[0].fill(ended)
    dialog.get_by_role("button", name="Preview").click()
    expect(fields[1]).to_have_attribute("aria-invalid", "true")
    fields[0].fill(begun)
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.get_by_role("status")).to_have_text("1 of 3 calls changes")
    changes = dialog.get_by_role("region", name="What changes")
    expect(changes).to_contain_text(re.compile(r"\$3\.92.*\$4\.02.*\$0\.10", re.DOTALL))
    row = dialog.get_by_role("table", name="By model").get_by_role("row", name="mystery")
    expect(row).to_contain_text("$0.10")
    assert api.get("/costs", group_by="model")["total"]["unpriced_calls"] == 1
    dialog.get_by_role("button", name="Reprice", exact=True).click()
    runs = page.get_by_role("table", name="Repricings").get_by_role("row")
    expect(runs.nth(1)).to_contain_text(re.compile("Done.*\\$0[.]10"))
    expect(runs.nth(2)).to_contain_text("Preview Done")
    expect(page).to_have_url(re.compile("/prices$"))
    page.get_by_role("link", name="Costs").click()
    expect(figure(page, "Cost")).to_have_text("$4.02")


def test_filters_and_a_phone(visit: Opened, site: Site) -> None:
    page = visit("reader", "costs?agent_id=support", viewport=NARROW)
    table = page.get_by_role("table", name="Without a price")
    # The model of these sessions has no price, and a reader sets none.
    expect(table.get_by_role("row", name="m-1")).to_contain_text(re.compile(r"\d+ calls"))
    expect(page.get_by_role("button", name="Actions of m-1")).to_have_count(0)
    expect(figure(page, "Cost")).not_to_contain_text("$")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    page.goto(site.path("costs?agent_id=nobody"))
    page.get_by_role("button", name="Clear filters").last.click()
    expect(page.get_by_role("table", name="Costs").get_by_role("row", name="m-1")).to_be_visible()


def test_a_dashboard_begins_with_the_template(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    plant_calls(api)
    page = visit(person, f"/o/{org.slug}/dashboards")
    for count in (5, 5):
        page.get_by_role("button", name="New dashboard").click()
        dialog = page.get_by_role("dialog", name="New dashboard")
        dialog.get_by_role("radio", name=re.compile("^Costs")).check()
        dialog.get_by_role("button", name="Create").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Costs")
        # A second one uses the queries of the first.
        assert len(api.get("/queries")["queries"]) == count
        page.goto(f"{page.url}?t=7d")
        users = page.get_by_role("region", name="Cost per user")
        expect(users).to_contain_text(re.compile("zoe.*adam", re.DOTALL))
        for name, text in (
            ("Cost per day", "house-1"), ("Cost per model", "house-1"),
            ("Cost per version", "none"), ("Calls without a price", "mystery"),
        ):  # fmt: skip
            expect(page.get_by_role("region", name=name)).to_contain_text(text)
        page.goto(site.path("dashboards", org))


def budget(name: str, spent: float, **fields: object) -> dict[str, object]:
    """Returns a budget of $50 as the API has it."""
    until = {"starts_at": "2026-11-01T00:00:00Z", "ends_at": "2026-12-01T00:00:00Z"}
    none = dict.fromkeys(("group", "level", "forecast_usd", "exhausted_at", "incident_id"))
    given = {"alert_id": "rule", "name": name, "enabled": True, "period": "month", **until, **none}
    found = {"amount_usd": 50, "spent_usd": spent, "share": spent / 50, "unpriced_calls": 0}
    return {**given, **found, **fields}


def test_budgets_are_bars_with_their_levels(visit: Opened, site: Site) -> None:
    org, person, _ = newcomer(site)
    budgets = [
        budget("Research", 61.2, group={"user_id": "zoe"}, level=100, incident_id="i"),
        budget("Support", 20, forecast_usd=52.1, unpriced_calls=2),
    ]
    rule = {"id": "rule", "trigger_kind": "budget", "trigger_spec": {"levels": [50, 80, 100]}}
    page = visit(person, f"/o/{org.slug}/sql")
    page.route("**/v1/budgets", lambda route: route.fulfill(json={"budgets": budgets}))
    page.route("**/v1/alerts", lambda route: route.fulfill(json=[rule]))
    page.get_by_role("link", name="Costs").click()
    items = page.get_by_role("region", name="Budgets").get_by_role("listitem")
    expect(items.nth(0)).to_contain_text(
        re.compile(r"Research.*user zoe.*100 % reached.*\$61\.20 of \$50\.00 this month, 122 %")
    )
    expect(items.nth(0).get_by_role("link", name="Incident")).to_be_visible()
    expect(items.nth(1)).to_contain_text(re.compile(r"≥ \$20\.00 of.*40\.0 %.*forecast \$52\.10"))
    expect(items.nth(1).get_by_title("80 %")).to_be_attached()
    new = page.get_by_role("region", name="Budgets").get_by_role("link", name="New budget")
    expect(new).to_have_attribute("href", f"/o/{org.slug}/alerts/new?trigger=budget")


def test_without_its_permission_the_region_of_budgets_is_absent(visit: Opened, site: Site) -> None:
    email = new_email()
    user_id = add_member(site.runtime, site.org, "events:read", email=email)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    page = visit(Person(email, token), "costs")
    table = page.get_by_role("table", name="Costs")
    # Without evaluations:read the events of a group are listed.
    link = table.get_by_role("row", name="m-1").get_by_role("link")
    expect(link).to_have_attribute("href", re.compile(r"/events\?.*model=m-1"))
    expect(page.get_by_role("region", name="Without a price")).to_be_visible()
    expect(page.get_by_role("region", name="Budgets")).to_have_count(0)
