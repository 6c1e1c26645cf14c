"""docs/use/queries.md gives operators the roles of the development server's users.xml."""

import re
from xml.etree import ElementTree

import pytest

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from tests.support.markdown import PROJECT

DOCUMENT = (PROJECT / "docs/use/queries.md").read_text()
[SQL] = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)
STATEMENTS = [" ".join(part.split()) for part in SQL.split(";") if part.strip()]


@pytest.fixture(scope="module")
def users(migrated_stack: DevStack) -> ElementTree.Element:
    """The running server's users.xml."""
    home = migrated_stack.clickhouse.home
    return ElementTree.fromstring((home / "users.xml").read_text())  # noqa: S314 our own file


def starting(*beginnings: str) -> list[str]:
    return [statement for statement in STATEMENTS if statement.startswith(beginnings)]


def test_the_profile_is_the_same(users: ElementTree.Element) -> None:
    [profile] = starting("CREATE SETTINGS PROFILE")
    documented = dict(re.findall(r"(\w+) = (\d+)", profile))
    configured = users.find("profiles/reader")
    assert configured is not None
    assert documented == {setting.tag: setting.text for setting in configured}


def test_each_setting_has_its_reason(users: ElementTree.Element) -> None:
    reasons = {
        name
        for line in DOCUMENT.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    configured = users.find("profiles/reader")
    assert configured is not None
    assert {setting.tag for setting in configured} <= reasons


@pytest.mark.parametrize("user", ["reader", "watchpost_views"])
def test_the_grants_are_the_same(users: ElementTree.Element, user: str) -> None:
    documented = [text for text in starting("GRANT") if text.endswith(f" TO {user}")]
    configured = [
        f"{grant.text} TO {user}" for grant in users.findall(f"users/{user}/grants/query")
    ]
    assert documented == configured


def test_the_policies_are_the_same(users: ElementTree.Element) -> None:
    configured = [
        f"CREATE ROW POLICY watchpost_views ON {database.tag}.{table.tag}"
        f" USING {table.findtext('filter')} TO watchpost_views"
        for database in users.findall("users/watchpost_views/databases/*")
        for table in database
    ]
    assert starting("CREATE ROW POLICY") == configured


def test_the_server_understands_every_statement(runtime: Runtime) -> None:
    for statement in STATEMENTS:
        runtime.clickhouse.rows(f"EXPLAIN AST {statement}")
