"""A release that was killed at any statement of ClickHouse's migrations, and then run again."""

from collections.abc import Iterator, Mapping

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse import migrate as migrations
from shared.foundation.clickhouse.migrate import current_version, migrate
from tests.support.databases import empty_clickhouse

_SESSIONS_FROM = 2
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


@pytest.fixture
def databases(clickhouse_url: str) -> Iterator[Iterator[Mortal]]:
    """One new database after the other."""

    def made() -> Iterator[Mortal]:
        while True:
            with empty_clickhouse(clickhouse_url) as url:
                clickhouse = Mortal(url)
                try:
                    yield clickhouse
                finally:
                    clickhouse.close()

    databases = made()
    yield databases
    databases.close()  # type: ignore[attr-defined] # a generator has it


def begin(clickhouse: Mortal) -> None:
    """Brings a database to the second migration, with events of seven sessions."""
    migrate(clickhouse, _SESSIONS_FROM)
    clickhouse.execute(_EVENTS.format(first=0))
    clickhouse.count = 0


def finish(clickhouse: Mortal) -> object:
    """Migrates to the end while events arrive, and returns what is there then."""
    clickhouse.last = None
    clickhouse.execute(_EVENTS.format(first=100))
    migrate(clickhouse)
    assert current_version(clickhouse) == migrations.LATEST
    clickhouse.execute(_EVENTS.format(first=200))
    return contents(clickhouse)


@pytest.mark.parametrize("start", ["empty", "with rows"])
def test_a_migration_that_was_killed_at_any_statement_is_finished_by_the_next_run(
    databases: Iterator[Mortal], start: str
) -> None:
    undisturbed = next(databases)
    if start == "with rows":
        begin(undisturbed)
        migrate(undisturbed)
        statements = undisturbed.count
        wanted = finish(undisturbed)
    else:
        migrate(undisturbed, _SESSIONS_FROM)
        statements, wanted = undisturbed.count, contents(undisturbed)
    assert statements > 5

    for last in range(1, statements + 1):
        clickhouse = next(databases)
        if start == "with rows":
            begin(clickhouse)
        clickhouse.last = last
        target = migrations.LATEST if start == "with rows" else _SESSIONS_FROM
        with pytest.raises(Killed):
            migrate(clickhouse, target)
        clickhouse.last = None
        if start == "with rows":
            assert finish(clickhouse) == wanted, f"killed before statement {last}"
        else:
            migrate(clickhouse, target)
            assert contents(clickhouse) == wanted, f"killed before statement {last}"
