"""Prices as people set them, and a call that is tried."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.ui.browser.accessible import violations
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site, newcomer


def test_a_price_is_made_changed_and_deleted(visit: Opened, site: Site, axe: Path) -> None:
    org, person, api = newcomer(site)
    page = visit(person, f"/o/{org.slug}/prices", script=axe, reduced_motion="reduce")
    expect(page.get_by_role("heading", name="No prices yet")).to_be_visible()
    page.get_by_role("button", name="New price").click()
    dialog = page.get_by_role("dialog", name="New price")
    model = dialog.get_by_role("textbox", name="Model")
    expect(model).to_be_focused()
    model.fill("house-*")
    copy = dialog.get_by_role("combobox", name="Copy from")
    copy.fill("claude-sonnet-4-5")
    dialog.get_by_role("option", name=re.compile("^claude-sonnet-4-5.*anthropic")).first.click()
    field = dialog.get_by_role("textbox", name="Input", exact=True).first
    expect(field).to_have_value("3")
    expect(model).to_have_value("house-*")
    field.fill("cheap")
    tiers = dialog.get_by_role("group", name="Large contexts", exact=True)
    large = tiers.get_by_role("group", name="Large context 1")
    expect(large.get_by_role("textbox", name="Above (tokens)")).to_have_value("200000")
    dialog.get_by_role("button", name="Add service tier").click()
    tier = dialog.get_by_role("group", name="Service tier 1", exact=True)
    tier.get_by_role("combobox", name="Tier").fill("flex")
    tier.get_by_role("combobox", name="Tier").press("Enter")
    tier.get_by_role("textbox", name="Factor").fill("0.25")
    assert violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(re.compile("decimal"))
    field.fill("4.25")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    row = page.get_by_role("table", name="Own prices").get_by_role("row", name="house-*")
    expect(row).to_contain_text("$4.25")
    expect(row).to_contain_text(re.compile("flex: . 0[.]25"))

    row.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit price")
    expect(dialog.get_by_role("textbox", name="Factor").first).to_have_value("0.25")
    dialog.get_by_role("button", name="Remove large context 1").first.click()
    dialog.get_by_role("textbox", name="Valid from").fill("2026-01-31")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("31 Jan")
    [price] = api.get("/prices")["prices"]
    assert (price["tiers"], price["valid_from"]) == ([], "2026-01-30T23:00:00.000000Z")
    assert price["variants"][0]["factor"] == 0.25
    page.set_viewport_size(NARROW)
    expect(row).to_contain_text("$4.25 in, $15.00 out")
    row.get_by_role("button", name="Actions of house-*").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No prices yet")).to_be_visible()


def test_a_call_is_tried_and_a_model_searched(visit: Opened, site: Site) -> None:
    page = visit("reader", "prices")
    region = page.get_by_role("region", name="Try a call")
    for name, text in (
        ("Model", "claude-sonnet-4-5"), ("Input tokens", "10,000"), ("Read from cache", "6000"),
        ("Written to cache", "3000"), ("Of these for 1 h", "1000"), ("Output tokens", "1000"),
    ):  # fmt: skip
        region.get_by_role("textbox", name=name).fill(text)
    expect(region.get_by_role("status")).to_contain_text("$0.0333, by the built-in price")
    row = region.get_by_role("table", name="Lines").get_by_role("row", name="Cache write, 1 h")
    expect(row).to_contain_text("$0.006")
    region.get_by_role("textbox", name="Model").fill("nowhere-1")
    expect(region.get_by_role("status")).to_have_text("No price.")
    page.get_by_role("tab", name="Built in").click()
    page.get_by_role("searchbox", name="Search models").fill("claude-sonnet-4-5")
    table = page.get_by_role("table", name="Built-in prices")
    expect(table.get_by_role("row").nth(1)).to_contain_text("claude-sonnet-4-5")
    expect(page.get_by_role("status").filter(has_text="genai-prices")).to_contain_text("models")
    expect(page.get_by_role("button", name="Copy", exact=True)).to_have_count(0)
    page.reload()
    expect(table.get_by_role("row").nth(1)).to_contain_text("claude-sonnet-4-5")
    page.get_by_role("searchbox", name="Search models").fill("no such model")
    expect(page.get_by_role("heading", name="No prices match")).to_be_visible()
