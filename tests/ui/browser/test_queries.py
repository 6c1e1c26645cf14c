"""The SQL page: who may run and save statements, what runs them, and what becomes of their rows."""

import json
import re
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from tests.support.processes import wait_until
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site

# Other tests send events of other agents.
_BY_AGENT = (
    "SELECT agent_id, count() AS events\nFROM events\nWHERE agent_id != $1"
    " AND agent_id IN ('billing', 'support')\nGROUP BY agent_id"
)
# It runs into the limit of 10 s.
_SLOW = "SELECT max(length(replaceAll(toString(number), '1', '22'))) FROM numbers(400000000)"
_HOSTILE = (
    "SELECT '<img src=x onerror=alert(1)>{{7*7}}' AS markup, concat('a', char(226, 128, 174), 'b')"
    " AS turned, '=1+1' AS formula, repeat('long ', 1000000) AS line, 18446744073709551615 AS n"
)
_RUNNING = "SELECT count() FROM system.processes WHERE startsWith(query_id, {org_id:String})"


def _editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="SQL", exact=True)


def _results(page: Page) -> Locator:
    return page.get_by_role("region", name="Results")


def _expect_rows(page: Page, count: str) -> None:
    expect(_results(page).get_by_role("status").first).to_have_text(
        re.compile(rf"^{count} in \d+ ms$")
    )


def _run(page: Page, sql: str) -> None:
    _editor(page).fill(sql)
    page.get_by_role("button", name="Run").click()


def test_only_a_click_runs_a_statement(visit: Opened) -> None:
    page = visit("admin", f"sql?sql={quote(_BY_AGENT)}&p1=nobody")
    expect(_editor(page)).to_contain_text("WHERE agent_id != $1")
    parameter = page.get_by_role("textbox", name="Parameter 1")
    expect(parameter).to_have_value("nobody")
    expect(_results(page).get_by_role("table")).to_have_count(0)
    _editor(page).press("Control+Enter")
    _expect_rows(page, "2 rows")
    parameter.fill("billing")
    parameter.press("Enter")
    _expect_rows(page, "1 row")
    expect(page).to_have_url(re.compile("p1=billing"))
    page.go_back()
    expect(parameter).to_have_value("nobody")
    _expect_rows(page, "2 rows")
    page.reload()
    _expect_rows(page, "2 rows")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="SQL").click()
    expect(_editor(page)).not_to_contain_text("agent_id != $1")
    expect(_results(page).get_by_role("table")).to_have_count(0)


def test_a_statement_is_typed_and_kept(visit: Opened) -> None:
    page = visit("admin", "sql")
    editor = _editor(page)
    # Typing faster than the page draws, over the lines that stood there.
    editor.press("Control+a")
    page.keyboard.type("SELECT coun")
    page.get_by_role("option", name="count function").click()
    page.keyboard.type("() FROM ev")
    page.get_by_role("option", name="events table").click()
    expect(editor).to_have_text("SELECT count() FROM events")
    expect(page).to_have_url(re.compile(r"sql=SELECT\+count"))
    item = page.get_by_role("treeitem", name="tool_call_id string?")
    editor.press("Control+End")
    page.keyboard.type(" GROUP BY ")
    item.click()
    expect(editor).to_contain_text("GROUP BY tool_call_id")
    page.evaluate("navigator.clipboard.writeText('SELECT 1 AS a,\\n  2 AS b')")
    editor.press("Control+a")
    editor.press("Control+v")
    expect(editor).to_have_text("SELECT 1 AS a,  2 AS b")
    long = f"SELECT 1 AS long -- {'x' * 4100}"
    _run(page, long)
    _expect_rows(page, "1 row")
    assert "sql=" not in page.url
    expect(page.get_by_text("Too long for a link")).to_be_visible()
    page.reload()
    expect(editor).to_contain_text("SELECT 1 AS long")
    _expect_rows(page, "1 row")


def test_a_draft_survives_a_visit_to_another_page(visit: Opened) -> None:
    """Of any length, and without its rows, which are marked once they are of another statement."""
    page = visit("admin", "sql")
    _run(page, "SELECT 1 AS one")
    _expect_rows(page, "1 row")
    marked = _results(page).get_by_text("These rows are of an earlier statement.")
    expect(marked).to_have_count(0)
    for draft in ("SELECT 2 AS two", f"SELECT 3 AS three -- {'x' * 4100}"):
        _editor(page).fill(draft)
        expect(marked).to_be_visible()
        navigation = page.get_by_role("navigation", name="Main")
        navigation.get_by_role("link", name="Sessions").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
        navigation.get_by_role("link", name="SQL").click()
        expect(_editor(page)).to_contain_text(draft[:16])
        expect(_results(page).get_by_role("table")).to_have_count(0)
        page.get_by_role("button", name="Run").click()
        _expect_rows(page, "1 row")
        expect(marked).to_have_count(0)


def test_a_refusal_names_its_place(visit: Opened) -> None:
    page = visit("admin", "sql")
    _run(page, "SELECT 1\nFROM evants")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("evants at line 2, column 6 is not a published table")
    alert.get_by_role("button", name="Go to line 2, column 6").click()
    page.keyboard.type("events LIMIT 1")
    _editor(page).press("Control+Enter")
    expect(alert).to_have_count(0)
    _expect_rows(page, "1 row")
    _run(page, "SELECT evnt_type FROM events")
    expect(alert).to_contain_text("Unknown expression")
    expect(alert).to_contain_text("event_type")
    expect(alert.get_by_role("button", name="Go to line 1, column 8")).to_be_visible()


def test_a_cancelled_statement_ends_on_the_server(visit: Opened, site: Site) -> None:
    def running() -> int:
        return int(site.runtime.clickhouse.rows(_RUNNING, {"org_id": site.org.id})[0][0])

    page = visit("admin", "sql")
    _run(page, _SLOW)
    wait_until(lambda: running() > 0, secs=8)
    page.get_by_role("button", name="Cancel").click()
    expect(_results(page).get_by_role("status").first).to_have_text("Cancelled")
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    wait_until(lambda: running() == 0, secs=5)


def test_no_rows_for_an_empty_parameter_name_it(visit: Opened) -> None:
    statement = "SELECT id FROM events WHERE agent_id = $1 AND session_id != $2"
    page = visit("admin", f"sql?sql={quote(statement)}&p2=x")
    page.get_by_role("button", name="Run").click()
    expect(_results(page).get_by_role("heading", name="No rows match")).to_be_visible()
    expect(_results(page)).to_contain_text("$1 is empty.")


def test_rows_lead_on_and_are_inert(visit: Opened) -> None:
    page = visit("admin", "sql")
    _run(page, "SELECT id, session_id, ts FROM events WHERE session_id = 's-001' ORDER BY ts")
    _expect_rows(page, "6 rows")
    rows = page.get_by_role("table", name="Rows").get_by_role("row")
    number = rows.nth(1).get_by_role("cell").first.inner_text()
    for cell in (0, 1):
        link = rows.nth(1).get_by_role("cell").nth(cell).get_by_role("link")
        expect(link).to_have_attribute("href", re.compile(rf"/sessions/s-001\?e={number}$"))
    header = page.get_by_role("columnheader", name="ts")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(rows.nth(6)).to_contain_text(number)
    page.reload()
    expect(rows.nth(6)).to_contain_text(number)

    _run(page, _HOSTILE)
    _expect_rows(page, "1 row")
    expect(rows.nth(1)).to_contain_text("<img src=x onerror=alert(1)>{{7*7}}")
    expect(rows.nth(1)).to_contain_text("a⟨U+202E⟩b")
    expect(rows.nth(1)).to_contain_text("5.0 MB")
    assert len(rows.nth(1).inner_text()) < 2000
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    head, row, _ = Path(download.value.path()).read_bytes().decode().split("\r\n")
    assert head == "markup,turned,formula,line,n"
    assert ",'=1+1," in row
    page.get_by_role("button", name="Copy JSON").click()
    expect(page.get_by_text("Copy JSON: copied")).to_be_attached()
    [copied] = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["line"] == "long " * 1_000_000
    assert copied["n"] == "18446744073709551615"
    rows.nth(1).get_by_role("cell").first.click()
    dialog = page.get_by_role("dialog", name="Row 1")
    expect(dialog).to_contain_text("shown 20.0 kB of 5.0 MB")
    dialog.get_by_role("button", name="Show more").click()
    expect(dialog).to_contain_text("shown 40.0 kB of 5.0 MB")
    assert page.locator("main img").count() == 0


def test_many_rows_are_cut_and_drawn(visit: Opened) -> None:
    page = visit("admin", "sql")
    _run(page, "SELECT number AS n, toDateTime(number) AS at FROM numbers(20000)")
    _expect_rows(page, "10,000 rows")
    expect(page.get_by_text("Only the first 10,000 rows came.")).to_be_visible()
    table = page.get_by_role("table", name="Rows")
    expect(table).to_have_attribute("aria-rowcount", "10001")
    assert table.get_by_role("row").count() < 100
    page.get_by_role("tab", name="Chart").click()
    expect(page.get_by_role("figure", name="n by at")).to_be_visible()
    expect(page.get_by_text("of 10,000 moments shown")).to_be_visible()
    kind = page.get_by_role("combobox", name="Chart type")
    kind.fill("kpi")
    page.get_by_role("option", name="kpi").click()
    expect(page.get_by_role("combobox", name="Axis")).to_have_count(0)
    expect(page).to_have_url(re.compile("view=chart&chart=kpi"))
    page.set_viewport_size(NARROW)
    page.get_by_role("tab", name="Table").click()
    expect(table.get_by_role("row").nth(1)).to_contain_text("at 01 Jan")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


def test_a_query_is_saved_changed_shown_and_deleted(visit: Opened, site: Site) -> None:
    dashboard = site.call("POST", "/dashboards", {"name": "From SQL"})
    page = visit("admin", f"sql?sql={quote(_BY_AGENT)}&p1=kept")
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="Save query")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("textbox", name="Name", exact=True)).to_be_focused()
    dialog.get_by_role("textbox", name="Name", exact=True).fill("Events by agent")
    dialog.get_by_role("textbox", name="Description").fill("without one of them")
    dialog.get_by_role("textbox", name="Name of $1").fill("agent")
    dialog.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile(r"/sql/[0-9a-f-]{36}$"))
    expect(page.get_by_role("textbox", name="Parameter 1")).to_have_value("kept")
    saved = page.get_by_role("list", name="Saved queries")
    expect(saved.get_by_role("link", name="Events by agent")).to_have_attribute(
        "aria-current", "page"
    )

    _editor(page).press("Control+End")
    page.keyboard.type(" ORDER BY events")
    expect(page.get_by_text("unsaved changes")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("unsaved changes")).to_have_count(0)
    [query] = [
        one for one in site.api.get("/queries")["queries"] if one["name"] == "Events by agent"
    ]
    assert query["sql_text"].endswith("ORDER BY events")
    assert query["params"] == [{"name": "agent", "value": "kept"}]

    # An unsaved change is saved first. The tile shows the chart that the page shows.
    page.get_by_role("button", name="Run").click()
    page.get_by_role("tab", name="Chart").click()
    kind = page.get_by_role("combobox", name="Chart type")
    kind.fill("pie")
    page.get_by_role("option", name="pie").click()
    _editor(page).press("Control+End")
    page.keyboard.type(" DESC")
    expect(page.get_by_text("unsaved changes")).to_be_visible()
    page.get_by_role("button", name="Add to dashboard").click()
    dialog.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog", name="Add to dashboard")
    dialog.get_by_role("combobox", name="Dashboard").fill("From SQL")
    dialog.get_by_role("option", name="From SQL").click()
    dialog.get_by_role("textbox", name="Title").fill("Agents")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    [tile] = site.api.get(f"/dashboards/{dashboard['id']}/tiles")["tiles"]
    assert (tile["title"], tile["query_id"]) == ("Agents", query["id"])
    assert (tile["chart_type"], tile["chart_config"]["x"]) == ("pie", "agent_id")

    # A dashboard that does not exist yet is made on the way.
    page.get_by_role("button", name="Add to dashboard").click()
    dialog.get_by_role("combobox", name="Dashboard").click()
    dialog.get_by_role("option", name="New dashboard").click()
    dialog.get_by_role("textbox", name="Name").fill("Made on the way")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    boards = site.api.get("/dashboards")["dashboards"]
    [board] = [one for one in boards if one["name"] == "Made on the way"]
    assert board["tile_count"] == 1
    site.call("DELETE", f"/dashboards/{board['id']}")

    saved.get_by_role("button", name="Delete Events by agent").click()
    question = page.get_by_role("dialog", name="Delete Events by agent?")
    question.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("alert")).to_contain_text("delete the tiles first")
    site.call("DELETE", f"/dashboards/{dashboard['id']}")
    saved.get_by_role("button", name="Delete Events by agent").click()
    question.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile(r"/sql$"))
    expect(saved.get_by_role("link")).to_have_count(0)


def test_others_see_only_what_they_may_do(visit: Opened, site: Site) -> None:
    query = site.call("POST", "/queries", {"name": "Shared", "sql_text": "SELECT 1 AS one"})
    written = ("Save", "Add to dashboard", "Delete Shared")
    page = visit("standard", f"sql/{query['id']}")
    expect(page.get_by_role("link", name="Shared")).to_be_visible()
    for name in written:
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    page.get_by_role("button", name="Run").click()
    _expect_rows(page, "1 row")
    page = visit("reader", f"sql/{query['id']}")
    expect(page.get_by_role("link", name="Shared")).to_be_visible()
    expect(_editor(page)).to_have_text("SELECT 1 AS one")
    for name in (*written, "Run", "Download CSV", "Copy JSON"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    expect(
        page.get_by_text("Running a statement takes the permission queries:run.")
    ).to_be_visible()
    _editor(page).press("Control+Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("alert")).to_have_count(0)
    site.call("DELETE", f"/queries/{query['id']}")
