"""Migrations beside a running service: no long locks, and nothing taken away that is still used."""

import importlib.util
from collections.abc import Mapping
from types import ModuleType

import pytest

from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations import MIGRATIONS
from shared.foundation.deployment.floor import PREVIOUS
from shared.foundation.postgres.effects import Effect, effects_of
from shared.foundation.postgres.migrate import statements_of
from shared.foundation.postgres.revisions import file_of, revisions

# These landed before the rules.
_EARLIER = "0015"
_EARLIER_IN_CLICKHOUSE = 5

# Tables that people fill by hand: their rows are read in a moment. All others grow with traffic.
_SMALL = frozenset(
    {"organizations", "users", "memberships", "first_members", "permission_sets", "api_keys"}
    | {
        "organization_settings",
        "evaluator_config",
        "evaluator_breaker",
        "evaluator_breakers",
        "evaluator_turns",
        "model_context_windows",
    }
    | {"alerts", "alert_states", "audits", "dashboards", "dashboard_tiles", "saved_queries"}
    | {"conversations"}
)
_ADVICE = (
    "build an index with shared.foundation.postgres.online.create_index in a migration of its own,"
    " add a constraint NOT VALID and validate it in the next migration, change rows in workers"
)


def module_of(revision: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"revision_{revision}", file_of(revision))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_migration_lets_the_service_go_on() -> None:
    for revision in revisions():
        if revision > _EARLIER:
            require_friendly(revision)


def require_friendly(revision: str) -> None:
    sql = statements_of(revision)
    effects = list(effects_of(sql))
    blocking = [one for one in effects if one.blocks and one.table not in _SMALL]
    assert not blocking, f"{blocking[0].statement}: {_ADVICE}"
    # What an autocommit block follows is committed before it and not repeated after a kill.
    if "CONCURRENTLY" in sql:
        others = [one for one in effects if "CONCURRENTLY" not in one.statement]
        assert not others, "give the index a migration of its own"
        assert "CREATE TABLE" not in sql, "give the index a migration of its own"
    if any(one.takes_away for one in effects):
        # The first release that does not use what this migration takes away.
        unused_since = getattr(module_of(revision), "unused_since", None)
        assert unused_since is not None
        assert unused_since <= PREVIOUS.postgres


class Noted(Ddl):
    """Notes templates; the database seems to be empty."""

    def __init__(self) -> None:
        self.templates: list[str] = []

    def run(self, template: str, _params: Mapping[str, object] | None = None) -> None:
        self.templates.append(template)

    def wait_for_inserts(self) -> None:
        pass

    def is_table_like(self, _name: str, _template: str) -> bool:
        return False


def test_every_migration_of_clickhouse_lets_the_service_go_on() -> None:
    for migration in MIGRATIONS[_EARLIER_IN_CLICKHOUSE:]:
        require_friendly_to_clickhouse(migration)


def require_friendly_to_clickhouse(migration: ModuleType) -> None:
    noted = Noted()
    migration.up(noted)
    for template in noted.templates:
        words = " ".join(template.split())
        if " MATERIALIZE " in words or " UPDATE " in words or " DELETE " in words:
            assert "mutations_sync = 0" in words, f"waits for all parts: {words}"
        taken = (" DROP COLUMN ", " RENAME ", " MODIFY COLUMN ")
        if any(one in words for one in taken):
            unused_since = getattr(migration, "unused_since", None)
            assert unused_since is not None
            assert unused_since <= PREVIOUS.clickhouse


@pytest.mark.parametrize(
    ("sql", "reads", "blocks", "takes_away"),
    [
        ("ALTER TABLE t ADD COLUMN c BOOLEAN DEFAULT false NOT NULL", False, False, False),
        ("ALTER TABLE t ADD COLUMN c TEXT", False, False, False),
        ("ALTER TABLE t ADD COLUMN c TEXT NOT NULL", False, False, True),
        ("ALTER TABLE t ADD COLUMN c UUID DEFAULT gen_random_uuid()", True, True, False),
        ("ALTER TABLE t DROP COLUMN c", False, False, True),
        ("ALTER TABLE t RENAME COLUMN c TO d", False, False, True),
        ("ALTER TABLE t ALTER COLUMN c TYPE BIGINT", True, True, True),
        ("ALTER TABLE t ALTER COLUMN c SET NOT NULL", True, True, True),
        ("ALTER TABLE t ALTER COLUMN c DROP NOT NULL", False, False, False),
        ("ALTER TABLE t ADD CONSTRAINT x CHECK (c > 0)", True, True, False),
        ("ALTER TABLE t ADD CONSTRAINT x CHECK (c > 0) NOT VALID", False, False, False),
        ("ALTER TABLE t ADD CONSTRAINT x UNIQUE USING INDEX i", False, False, False),
        ("ALTER TABLE t VALIDATE CONSTRAINT x", True, False, False),
        ("ALTER TABLE t DROP CONSTRAINT x", False, False, False),
        ("CREATE UNIQUE INDEX i ON t (c)", True, True, False),
        ("CREATE INDEX CONCURRENTLY i ON t (c)", True, False, False),
        ("DROP TABLE t", False, False, True),
        ("UPDATE t SET c = ';'", True, True, False),
        ("DELETE FROM t", True, True, False),
    ],
)
def test_the_effects_of_a_statement(sql: str, reads: bool, blocks: bool, takes_away: bool) -> None:
    script = f"BEGIN;\n\n-- Running upgrade; now\n\n{sql};\n\nCOMMIT;"
    assert list(effects_of(script)) == [Effect(sql, "t", reads, blocks, takes_away)]


def test_a_table_of_the_same_migration_has_no_rows_yet() -> None:
    sql = "CREATE TABLE t (c INTEGER);\nCREATE INDEX i ON t (c);\nUPDATE t SET c = 1;"
    assert list(effects_of(sql)) == []


def test_a_function_is_one_statement() -> None:
    function = "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN UPDATE t SET c = 1; END $$;"
    [effect] = effects_of(f"{function}\nCREATE INDEX i ON t (c);")
    assert effect.table == "t"
    assert effect.statement.startswith("CREATE INDEX")
