"""Latency: figures, two drawings with one cursor, names, and the ways to their events."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.ui.browser.conftest import Opened


def state(page: Page) -> dict[str, list[str]]:
    """Returns the state that the URL holds."""
    return parse_qs(urlsplit(page.url).query)


def over(figure: Locator) -> tuple[float, float]:
    """Returns the middle of a drawing's newest column, at the height of half a second."""
    box = figure.locator("svg").bounding_box()
    assert box is not None
    return box["x"] + box["width"] - 20, box["y"] + box["height"] * 0.5


def test_names_lead_to_their_events(visit: Opened) -> None:
    page = visit("admin", "latency")
    tabs = page.get_by_role("tablist", name="Pairs of events").get_by_role("tab")
    expect(tabs).to_have_text(["Tools", "Models", "Hooks", "People"])
    names = page.get_by_role("table", name="Slowest names")
    heads = ["Tool", "p50", "p95", "p99", "max", "Count", "Errors"]
    expect(names.get_by_role("columnheader")).to_have_text(heads)
    expect(names.get_by_role("columnheader", name="p95")).to_have_attribute(
        "aria-sort", "descending"
    )
    row = names.get_by_role("row", name=re.compile("lookup"))
    expect(row.get_by_role("cell").nth(1)).to_have_text("500 ms")
    failed = row.get_by_role("cell").last.inner_text()
    row.get_by_role("link", name=failed, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Events")
    query = state(page)
    assert (query["event_type"], query["errored"]) == (["tool_result"], ["true"])
    assert {"tool_name", "from", "to"} <= query.keys()
    expect(page.get_by_text(re.compile(rf"^{failed} events shown"))).to_be_visible()
    page.go_back()
    tabs.filter(has_text="Models").click()
    assert state(page)["view"] == ["models"]
    expect(names.get_by_role("columnheader").first).to_have_text("Model")
    count = names.get_by_role("button", name="Count")
    count.click()
    expect(names.get_by_role("columnheader", name="Count")).to_have_attribute(
        "aria-sort", "descending"
    )
    names.get_by_role("link", name="m-1").click()
    expect(page.get_by_role("heading", name="Calls of m-1")).to_be_visible()
    page.get_by_role("button", name="Close calls").click()
    expect(page.get_by_role("table", name="Calls")).to_have_count(0)


def test_two_drawings_have_one_cursor(visit: Opened) -> None:
    page = visit("admin", "latency?t=1h")
    heat = page.get_by_role("figure", name="Latency heat map")
    percentiles = page.get_by_role("figure", name="Latency percentiles")
    expect(heat.locator("rect").first).to_be_visible()
    bands = heat.get_by_role("columnheader", include_hidden=True)
    expect(bands).to_have_count(13)
    page.mouse.move(*over(heat))
    moment = heat.locator("p").first
    expect(percentiles.locator("p").first).to_have_text(moment.inner_text())
    page.mouse.move(*over(percentiles))
    expect(heat.locator("p").first).to_have_text(percentiles.locator("p").first.inner_text())
    page.mouse.click(*over(heat))
    expect(page.get_by_role("heading", name=re.compile("^Calls, "))).to_be_visible()
    assert {"band", "since", "until"} <= state(page).keys()


def test_the_calls_of_a_cell_are_listed_with_their_durations(visit: Opened) -> None:
    """The band of the default data has the calls of half a second, and no others."""
    page = visit("admin", "latency?band=5")
    calls = page.get_by_role("table", name="Calls")
    heads = ["Time", "Tool", "Duration", "Result", "Session"]
    expect(calls.get_by_role("columnheader")).to_have_text(heads)
    expect(calls.get_by_role("row").nth(1).get_by_role("cell").nth(2)).to_have_text("500 ms")
    start = calls.get_by_role("row").nth(1).get_by_role("link").first
    expect(start).to_have_attribute("href", re.compile(r"/sessions/[^/?]+\?e=\d+$"))
    shown = page.get_by_text(re.compile(r"^(\d+) of \1 calls shown, the longest$"))
    expect(shown).to_be_visible()


def test_without_pairs_there_is_a_way_out(visit: Opened) -> None:
    page = visit("admin", "latency?tool_name=none&view=hooks&t=1h")
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name="No pairs match")).to_be_visible()
    main.get_by_role("button", name="Clear filters").last.click()
    main.get_by_role("button", name="Go to the latest").click()
    assert state(page) == {"view": ["hooks"], "t": ["all"]}
    expect(main.get_by_role("heading", name="No pairs yet")).to_be_visible()
    expect(main.get_by_text("A pair is a hook_triggered and the hook_completed")).to_be_visible()
