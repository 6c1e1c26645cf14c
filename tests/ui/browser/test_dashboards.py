"""Dashboards: their tiles, their layout by keys and pointer, and what each member may do."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.processes import wait_until
from tests.ui.browser.accessible import settle, violations
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site

_RANGE = [
    {"name": "from", "value": ""},
    {"name": "to", "value": ""},
    {"name": "agent", "value": ""},
]
_CHART_TYPES = ("line", "area", "bar", "stacked_bar", "pie", "kpi", "table")
_OVER_TIME = (
    "SELECT toStartOfHour(ts) AS at, count() AS events FROM events"
    " WHERE ts >= $1 AND ts < $2 AND agent_id != $3 GROUP BY at ORDER BY at"
)


@pytest.fixture(scope="module")
def queries(site: Site) -> Iterator[dict[str, str]]:
    """The ids of two saved queries, by name."""

    def saved(name: str, sql: str, params: list[dict[str, str]]) -> str:
        body = {"name": name, "sql_text": sql, "params": params}
        return str(site.call("POST", "/queries", body)["id"])

    by_agent = "SELECT agent_id, count() AS events FROM events GROUP BY agent_id ORDER BY agent_id"
    made = {
        "By agent": saved("By agent", by_agent, []),
        "Over time": saved("Over time", _OVER_TIME, _RANGE),
    }
    yield made
    for query_id in made.values():
        site.call("DELETE", f"/queries/{query_id}")


@pytest.fixture
def dashboard(site: Site, queries: dict[str, str]) -> Iterator[str]:
    """The id of a dashboard with two tiles side by side, "Agents" and "Hours"."""
    made = site.call("POST", "/dashboards", {"name": "Support", "description": "of two agents"})
    path = f"/dashboards/{made['id']}"
    tiles: list[dict[str, Any]] = [
        {"query_id": queries["By agent"], "title": "Agents", "chart_type": "bar", "pos_x": 0},
        {"query_id": queries["Over time"], "title": "Hours", "chart_type": "line", "pos_x": 6},
    ]
    for tile in tiles:
        site.call("POST", f"{path}/tiles", {**tile, "pos_y": 0, "pos_w": 6, "pos_h": 4})
    yield made["id"]
    site.call("DELETE", path)


def _tile(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title, exact=True)


def _act(page: Page, title: str, action: str) -> None:
    _tile(page, title).get_by_role("button", name="Tile actions").click()
    page.get_by_role("menuitem", name=action).click()


def _place(site: Site, dashboard: str, title: str) -> tuple[int, int, int, int]:
    tiles = site.api.get(f"/dashboards/{dashboard}/tiles")["tiles"]
    [tile] = [one for one in tiles if one["title"] == title]
    return tile["pos_x"], tile["pos_y"], tile["pos_w"], tile["pos_h"]


def test_a_dashboard_is_created_filled_renamed_and_deleted(
    visit: Opened, site: Site, queries: dict[str, str]
) -> None:
    page = visit("admin", "dashboards")
    page.get_by_role("button", name="New dashboard").click()
    dialog = page.get_by_role("dialog", name="New dashboard")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    dialog.get_by_role("textbox", name="Name").fill("Made by hand")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Made by hand")
    expect(page.get_by_role("heading", name="No tiles yet")).to_be_visible()

    dialog = page.get_by_role("dialog", name="Add tile")
    for kind in ("stacked_bar", "table"):
        page.get_by_role("button", name="Add tile").click()
        dialog.get_by_role("combobox", name="Query").fill("Over time")
        dialog.get_by_role("option", name="Over time").click()
        dialog.get_by_role("combobox", name="Chart type").click()
        chart_types = dialog.get_by_role("listbox", name="Chart type").get_by_role("option")
        assert chart_types.all_inner_texts() == list(_CHART_TYPES)
        chart_types.get_by_text(kind, exact=True).click()
        dialog.get_by_role("textbox", name="Parameter 3").fill("nobody")
        # Enter sends also the value that was typed last.
        dialog.get_by_role("textbox", name="Parameter 3").press("Enter")
        expect(dialog).to_have_count(0)
    shown = _tile(page, "Over time")
    expect(shown.get_by_role("figure", name="Over time", exact=True)).to_be_attached()
    expect(shown.get_by_role("table", name="Over time", exact=True)).to_be_visible()
    [made] = [one for one in site.api.get("/dashboards")["dashboards"] if one["tile_count"] == 2]
    path = f"/dashboards/{made['id']}/tiles"
    tiles = site.api.get(path)["tiles"]
    assert [one["param_bindings"] for one in tiles] == [{"3": "nobody"}] * 2
    assert {one["query_id"] for one in tiles} == {queries["Over time"]}
    for kind in _CHART_TYPES[:-1]:
        tile = {"query_id": queries["By agent"], "title": f"As {kind}", "chart_type": kind}
        site.call("POST", path, tile)
    page.reload()
    for kind in _CHART_TYPES[:-1]:
        figure = _tile(page, f"As {kind}").get_by_role("figure", name=f"As {kind}", exact=True)
        expect(figure).to_contain_text("events" if kind == "kpi" else "billing")

    page.get_by_role("button", name="Dashboard actions").click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog = page.get_by_role("dialog", name="Rename dashboard")
    dialog.get_by_role("textbox", name="Name").fill("By another name")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("By another name")
    page.get_by_role("link", name="Dashboards").click()
    row = page.get_by_role("row", name=re.compile("By another name"))
    row.get_by_role("button", name="Delete").click()
    question = page.get_by_role("dialog", name="Delete By another name?")
    question.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_a_layout_is_edited_by_keys_and_pointer(visit: Opened, site: Site, dashboard: str) -> None:
    page = visit("admin", f"dashboards/{dashboard}")
    layouts: list[Any] = []
    page.on("request", lambda sent: layouts.append(sent) if "/layout" in sent.url else None)
    edit = page.get_by_role("button", name="Edit layout")
    edit.click()
    move = page.get_by_role("button", name="Move Hours")
    move.press("ArrowLeft")
    expect(page.get_by_text("Hours: column 6, row 1, 6 wide, 4 high")).to_be_attached()
    move.press("Shift+ArrowRight")
    move.press("Shift+ArrowDown")
    expect(page.get_by_text("Hours: column 6, row 1, 7 wide, 5 high")).to_be_attached()
    expect(move).to_be_focused()

    page.get_by_role("link", name="Alerts", exact=True).click()
    question = page.get_by_role("dialog", name="Leave without saving?")
    question.get_by_role("button", name="Cancel").click()
    page.once("dialog", lambda shown: shown.dismiss())
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    page.get_by_role("button", name="Save layout").click()
    expect(edit).to_be_visible()
    assert [one.method for one in layouts] == ["PUT"]
    assert _place(site, dashboard, "Hours") == (5, 0, 7, 5)
    assert _place(site, dashboard, "Agents") == (0, 5, 6, 4)

    edit.click()
    heading = _tile(page, "Agents").get_by_role("heading", name="Agents")
    box = heading.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 10, box["y"] - 100, steps=4)
    page.mouse.move(box["x"] + 10, box["y"] - 290, steps=4)
    page.mouse.up()
    corner = _tile(page, "Agents").bounding_box()
    assert corner is not None
    page.mouse.move(corner["x"] + corner["width"] - 6, corner["y"] + corner["height"] - 6)
    page.mouse.down()
    page.mouse.move(corner["x"] + corner["width"] - 200, corner["y"] + corner["height"] + 60)
    page.mouse.up()
    page.get_by_role("button", name="Save layout").click()
    expect(edit).to_be_visible()
    x, y, width, height = _place(site, dashboard, "Agents")
    assert (x, y, height) == (0, 0, 5)
    assert width < 6
    edit.click()
    page.get_by_role("button", name="Move Agents").press("ArrowRight")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("link", name="Alerts", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Alerts")
    assert _place(site, dashboard, "Agents") == (x, y, width, height)


def test_a_tile_shows_edits_opens_and_leaves(visit: Opened, site: Site, dashboard: str) -> None:
    page = visit("admin", f"dashboards/{dashboard}")
    agents = _tile(page, "Agents")
    expect(agents.get_by_role("figure", name="Agents", exact=True)).to_contain_text("billing")
    _act(page, "Agents", "View as table")
    expect(agents.get_by_role("row", name=re.compile("billing"))).to_contain_text("180")
    _act(page, "Agents", "Edit")
    dialog = page.get_by_role("dialog", name="Edit tile")
    dialog.get_by_role("textbox", name="Title").fill("People")
    dialog.get_by_role("button", name="Save").click()
    people = _tile(page, "People")
    expect(people).to_be_visible()
    assert _place(site, dashboard, "People") == (0, 0, 6, 4)
    page.get_by_role("button", name="Full screen").click()
    # Playwright's own waits evaluate texts in the page, which its policy forbids.
    wait_until(lambda: page.evaluate("document.fullscreenElement !== null"))
    page.evaluate("document.exitFullscreen()")
    wait_until(lambda: page.evaluate("document.fullscreenElement === null"))

    _act(page, "Hours", "Open in SQL")
    expect(page.get_by_role("heading", level=1)).to_have_text("SQL")
    expect(page.get_by_role("textbox", name="Parameter 1")).to_have_value(re.compile(r"^20\d\d-"))
    results = page.get_by_role("region", name="Results")
    expect(results.get_by_role("status").first).to_have_text(re.compile(r"^\d rows? in \d+ ms$"))
    page.go_back()
    _act(page, "People", "Remove")
    question = page.get_by_role("dialog", name="Remove People?")
    question.get_by_role("button", name="Remove").click()
    expect(people).to_have_count(0)


def test_tiles_run_three_at_once_wait_and_keep_old_data(
    visit: Opened, site: Site, queries: dict[str, str], dashboard: str
) -> None:
    for _ in range(3):
        tile = {"query_id": queries["By agent"], "title": "More", "chart_type": "table"}
        site.call("POST", f"/dashboards/{dashboard}/tiles", tile)
    held: list[Route] = []
    page = visit("admin", "dashboards")
    page.route("**/tiles/*/run", lambda route: held.append(route))
    page.goto(site.path(f"dashboards/{dashboard}?t=7d"))

    while len(held) < 3:
        page.wait_for_timeout(20)
    expect(_tile(page, "Hours")).to_be_visible()
    page.evaluate("new Promise((done) => requestIdleCallback(done))")
    assert len(held) == 3
    busy = {"error": "too many runs", "code": "rate_limited", "request_id": "r"}
    held.pop(0).fulfill(status=429, headers={"Retry-After": "3"}, body=json.dumps(busy))
    expect(page.get_by_text("The server is busy. Trying again in 3 s.")).to_be_visible()
    for route in held:
        route.continue_()
    page.unroute("**/tiles/*/run")
    expect(page.get_by_role("table", name="More", exact=True)).to_have_count(3)
    expect(_tile(page, "Agents").get_by_role("figure", name="Agents", exact=True)).to_be_attached()
    expect(page.get_by_text("The server is busy")).to_have_count(0)

    def refuse(route: Route) -> None:
        failed = {"error": "the store is away", "code": "gone", "request_id": "abc"}
        route.fulfill(status=409, body=json.dumps(failed))

    page.route("**/tiles/*/run", refuse)
    page.get_by_role("toolbar", name="View").get_by_role("button", name="Refresh").click()
    hours = _tile(page, "Hours")
    expect(hours.get_by_role("alert")).to_contain_text("Not refreshed: the store is away")
    expect(hours.get_by_role("alert")).to_contain_text("request abc")
    expect(hours.get_by_role("figure", name="Hours", exact=True)).to_be_attached()
    page.unroute("**/tiles/*/run")
    hours.get_by_role("button", name="Try again").click()
    expect(hours.get_by_role("alert")).to_have_count(0)


def test_a_dashboard_is_accessible(visit: Opened, axe: Path, dashboard: str) -> None:
    page = visit("admin", f"dashboards/{dashboard}", script=axe, reduced_motion="reduce")
    expect(_tile(page, "Agents")).to_contain_text("billing")
    settle(page, "Support")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.get_by_role("button", name="Edit layout").click()
    assert violations(page) == []
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Add tile").click()
    expect(page.get_by_role("dialog", name="Add tile")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.set_viewport_size(NARROW)
    expect(page.get_by_role("button", name="Edit layout")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


def test_the_range_and_the_interval_are_in_the_address(
    visit: Opened, site: Site, dashboard: str
) -> None:
    page = visit(
        "admin", f"dashboards/{dashboard}?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z"
    )
    expect(_tile(page, "Hours")).to_contain_text("No rows match.")
    page.clock.install()
    page.goto(site.path(f"dashboards/{dashboard}"))
    expect(_tile(page, "Hours").get_by_role("figure", name="Hours", exact=True)).to_be_attached()
    refresh = page.get_by_role("combobox", name="Refresh")
    refresh.fill("30s")
    page.get_by_role("option", name="30s").click()
    expect(page).to_have_url(re.compile("refresh=30s"))
    with page.expect_request("**/tiles/*/run"):
        page.clock.run_for(31_000)
    page.reload()
    expect(refresh).to_have_value("30s")


def test_others_see_only_what_they_may_do(visit: Opened, dashboard: str) -> None:
    for role in ("standard", "reader"):
        page = visit(role, "dashboards")
        row = page.get_by_role("row", name=re.compile("Support"))
        expect(row).to_be_visible()
        expect(page.get_by_role("button", name="New dashboard")).to_have_count(0)
        expect(row.get_by_role("button")).to_have_count(0)
        row.get_by_role("link", name="Support").click()
        expect(_tile(page, "Agents")).to_be_visible()
        for name in ("Edit layout", "Add tile", "Dashboard actions"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        menu = _tile(page, "Agents").get_by_role("button", name="Tile actions")
        expect(_tile(page, "Agents")).to_contain_text("billing")
        expect(_tile(page, "Hours").get_by_role("figure", name="Hours")).to_be_attached()
        if role == "standard":
            menu.click()
            assert page.get_by_role("menuitem").all_inner_texts() == [
                "View as table",
                "Open in SQL",
            ]
        else:
            menu.click()
            assert page.get_by_role("menuitem").all_inner_texts() == ["View as table"]
