"""Copy as curl and Open in SQL work for every role that sees them (docs/change/ui.md)."""

import json
import re

import pytest
from playwright.sync_api import Page

from shared.access.permissions.builtin_sets import BUILTIN_SETS
from tests.support.markdown import PROJECT
from tests.ui.browser.conftest import Opened
from tests.ui.browser.planted import PERMISSION_SETS, Planted, follow, settled
from tests.ui.browser.test_roles import ACTIONS, path_of
from tests.ui.browser.views import View

_ROUTES = (PROJECT / "web/ui/src/routes.ts").read_text()
_PAGE = (PROJECT / "docs/change/ui.md").read_text()
_SECTION = _PAGE.partition("## Open in SQL")[2].partition("\n## ")[0]
# Path of a route → what the table says about its toolbar.
TABLE = {
    path: cells[1]
    for cells in (line.split(" | ") for line in _SECTION.splitlines() if line.startswith("| `"))
    for path in re.findall(r"`([^`]+)`", cells[0])
}


# Incidents that somebody reported have none, and rules that are not in SQL.
SOME = ("of rules and audits", "rules in SQL")
PAGES = (*ACTIONS, "incidents/{rule_incident}", "incidents/{sql_incident}", "deletions")


def route_of(page: str) -> str:
    """Returns the path of the route of a page: `sessions/:id` for `sessions/{session}?t=1h`."""
    return re.sub(r"{\w+}", ":id", page.partition("?")[0])


def has_statement(page: str) -> bool:
    """Returns whether the table says that this page has the link in its toolbar."""
    said = TABLE[route_of(page)]
    return said == "yes" or (said in SOME and page.endswith("_incident}"))


def test_the_table_has_every_page() -> None:
    assert set(TABLE) == set(re.findall(r'{\s+path: "([^"]+)",\s+title:', _ROUTES))
    assert set(TABLE.values()) == {"yes", "no", *SOME}


@pytest.mark.parametrize("role", PERMISSION_SETS)
def test_what_a_role_is_shown_works(visit: Opened, ours: Planted, role: str) -> None:
    runs_sql = "queries:run" in BUILTIN_SETS[PERMISSION_SETS[role]].permissions
    page = visit(ours.people[role], path_of(ours, "sessions?live=0"))
    view = View(page, ours.people[role].token)
    for path in PAGES:
        follow(page, path_of(ours, path))
        settled(page)
        has_sql = runs_sql and has_statement(path)
        link = view.toolbar.get_by_role("link", name="Open in SQL")
        assert link.count() == has_sql, path
        if view.toolbar.count():
            view.curl()
        if has_sql:
            view.sql()


def test_a_rule_in_sql_opens_its_statement(visit: Opened, ours: Planted) -> None:
    page: Page = visit(ours.people["admin"], path_of(ours, "alerts"))
    view = View(page, ours.people["admin"].token)
    sql = "SELECT count() AS metric_value FROM events"
    rule = {"name": "in SQL", "trigger_kind": "custom_sql", "trigger_spec": {"sql": sql}}
    content = json.dumps(rule).encode()
    status, answer = ours.api.request("POST", "/alerts", content, Content_Type="application/json")
    assert status == 201, answer
    follow(page, path_of(ours, f"alerts/{json.loads(answer)['id']}"))
    settled(page)
    assert list(view.sql()[0]) == ["metric_value"]
