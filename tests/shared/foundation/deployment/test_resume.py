"""A release that was killed at any statement of ClickHouse's migrations, and then run again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse import migrate as migrations
from shared.foundation.clickhouse.migrate import current_version, migrate
from tests.support.databases import empty_clickhouse

_SESSIONS_FROM = 2
# A view last, because it names its target.
_TABLES = """
SELECT create_table_query FROM system.tables WHERE database = currentDatabase()
ORDER BY engine = 'MaterializedView'
"""
_PARTITIONS = """
SELECT DISTINCT table, partition_id FROM system.parts WHERE database = currentDatabase() AND active
"""
_EVENTS = """
INSERT INTO events (org_id, id, session_id, agent_id, event_type, environment, ts, arrival, payload)
SELECT 'o', number, toString(number % 7), 'a', 'agent_start', 'test', toDateTime64(number, 6), 1, ''
FROM numbers({first}, 20)
"""


class Killed(BaseException):
    """Ends a migration as SIGKILL would: nothing of it runs afterwards."""


class Mortal(ClickHouse):
    """Counts the statements that change something; dies before the one with the number `last`."""

    def __init__(self, url: str) -> None:
        super().__init__(url, pool_size=2)
        self.last: int | None = None
        self.count = 0

    def execute(self, sql: str, params: Mapping[str, object] | None = None) -> None:
        self._live()
        super().execute(sql, params)

    def insert(self, *args: object, **kwargs: object) -> None:
        self._live()
        super().insert(*args, **kwargs)  # type: ignore[arg-type] # passed on as they are

    def _live(self) -> None:
        self.count += 1
        if self.count == self.last:
            raise Killed


def contents(clickhouse: ClickHouse) -> object:
    """Returns the tables of the database, and what the service reads from them."""
    tables = clickhouse.rows(
        "SELECT name, replaceAll(create_table_query, concat(database, '.'), '')"
        " FROM system.tables WHERE database = currentDatabase() ORDER BY name"
    )
    sessions = clickhouse.rows(
        "SELECT org_id, session_id, min(started_at), max(last_event_at) FROM agent_sessions"
        " GROUP BY 1, 2 ORDER BY 2"
    )
    events = clickhouse.rows("SELECT count(), uniqExact(id) FROM events FINAL")
    return tables, sessions, events


@contextmanager
def new_database(clickhouse_url: str) -> Iterator[Mortal]:
    with empty_clickhouse(clickhouse_url) as url:
        clickhouse = Mortal(url)
        try:
            yield clickhouse
        finally:
            clickhouse.close()


@contextmanager
def new_copy(clickhouse_url: str, original: ClickHouse) -> Iterator[Mortal]:
    """Yields a new database with the tables and rows of another one."""
    name = original.layout.database
    with new_database(clickhouse_url) as copy:
        for (statement,) in original.rows(_TABLES):
            copy.execute(statement.replace(f"{name}.", f"{copy.layout.database}."))
        for table, partition in original.rows(_PARTITIONS):
            copy.execute(
                f"ALTER TABLE {table} ATTACH PARTITION ID '{partition}' FROM {name}.{table}"
            )
        yield copy


def killed(clickhouse: Mortal, target: int, last: int) -> None:
    """Migrates until before the statement with the number `last`."""
    clickhouse.count, clickhouse.last = 0, last
    with pytest.raises(Killed):
        migrate(clickhouse, target)
    clickhouse.last = None


def statements_of(clickhouse: Mortal, target: int) -> int:
    """Migrates, and returns how many statements that took."""
    clickhouse.count = 0
    migrate(clickhouse, target)
    return clickhouse.count


def finish(clickhouse: Mortal, target: int) -> object:
    """Migrates while events arrive, and returns what is there then."""
    clickhouse.execute(_EVENTS.format(first=100))
    migrate(clickhouse, target)
    assert current_version(clickhouse) == target
    clickhouse.execute(_EVENTS.format(first=200))
    return contents(clickhouse)


def test_a_first_release_that_was_killed_at_any_statement_is_finished_by_the_next_run(
    clickhouse_url: str,
) -> None:
    with new_database(clickhouse_url) as undisturbed:
        statements = statements_of(undisturbed, _SESSIONS_FROM)
        wanted = contents(undisturbed)
    assert statements > 5
    for last in range(1, statements + 1):
        with new_database(clickhouse_url) as clickhouse:
            killed(clickhouse, _SESSIONS_FROM, last)
            migrate(clickhouse, _SESSIONS_FROM)
            assert contents(clickhouse) == wanted, f"killed before statement {last}"


def test_a_migration_of_rows_that_was_killed_at_any_statement_is_finished_by_the_next_run(
    clickhouse_url: str,
) -> None:
    """Each migration begins with a copy of what the migrations before it made."""
    with new_database(clickhouse_url) as before:
        migrate(before, _SESSIONS_FROM)
        before.execute(_EVENTS.format(first=0))
        for target in range(_SESSIONS_FROM + 1, migrations.LATEST + 1):
            with new_copy(clickhouse_url, before) as undisturbed:
                statements = statements_of(undisturbed, target)
                wanted = finish(undisturbed, target)
            assert statements > 1
            for last in range(1, statements + 1):
                with new_copy(clickhouse_url, before) as clickhouse:
                    killed(clickhouse, target, last)
                    told = f"migration {target} was killed before its statement {last}"
                    assert finish(clickhouse, target) == wanted, told
            migrate(before, target)
