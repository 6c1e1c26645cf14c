"""Runs DDL templates, which `shared.foundation.clickhouse.layout` defines and fills in.

A migration therefore states columns and keys, and nothing about the layout of the deployment.
"""

import re
import time
from collections.abc import Mapping

from shared.foundation.clickhouse.client import ClickHouse

# Longer than a connection waits for the answer to an insert
# (`shared.foundation.clickhouse.client`).
_LONGEST_INSERT_SECS = 90.0
_GRANULARITY = re.compile(r"index_granularity = (\d+)")
_CREATE = re.compile(r"^CREATE (TABLE|MATERIALIZED VIEW) (?!IF NOT EXISTS )")
_MUTATION = re.compile(r"^ALTER TABLE (\w+)\s.*?\b(MATERIALIZE \w+ \w+)", re.DOTALL)

_UNDER_WAY = """
SELECT 1 FROM {mutations}
WHERE database = {{database:String}} AND table = {{table:String}} AND NOT is_done
    AND position(command, {{command:String}}) > 0
LIMIT 1
"""

# `elapsed` counts from the start of a query.
_INSERTS = """
SELECT count() FROM {processes} WHERE query_kind = 'Insert' AND elapsed > {{since:Float64}}
"""


class Ddl:
    """The object that a migration's `up` and `down` receive.

    A migration that was killed runs again from its first statement, so each statement has to have
    the same result the second time. Names that an earlier attempt created stay, and work that it
    began in the background is not begun again.
    """

    def __init__(self, clickhouse: ClickHouse) -> None:
        self._clickhouse = clickhouse

    def run(self, template: str, params: Mapping[str, object] | None = None) -> None:
        """Fills in `template` and runs the statements; binds `{name:Type}` from `params`."""
        for statement in self._clickhouse.layout.statements(template):
            if not self._is_under_way(statement):
                self._clickhouse.execute(
                    _CREATE.sub(r"CREATE \1 IF NOT EXISTS ", statement), params
                )

    def drop_table(self, name: str) -> None:
        """Drops a table or view and waits until its name is free again."""
        self.run(f"DROP TABLE IF EXISTS {{table:{name}}} SYNC")

    def wait_for_inserts(self) -> None:
        """Waits for the inserts that run now, so that every later insert uses the current views."""
        started = time.monotonic()
        processes = self._clickhouse.layout.everywhere("system.processes")
        while (elapsed := time.monotonic() - started) < _LONGEST_INSERT_SECS:
            running = self._clickhouse.rows(
                _INSERTS.format(processes=processes), {"since": elapsed}
            )
            if not any(count for (count,) in running):
                return
            time.sleep(0.1)

    def is_table_like(self, name: str, template: str) -> bool:
        """Returns whether the table already has the granularity of `template`."""
        wanted = _GRANULARITY.search(template)
        rows = self._clickhouse.rows(
            "SELECT create_table_query FROM system.tables"
            " WHERE database = {database:String} AND name = {name:String}",
            {
                "database": self._clickhouse.layout.database,
                "name": self._clickhouse.layout.kept_in(name),
            },
        )
        found = [_GRANULARITY.search(str(query)) for (query,) in rows]
        return [one and one[1] for one in found] == [wanted[1] if wanted else "8192"]

    def _is_under_way(self, statement: str) -> bool:
        """Returns whether a mutation of an earlier attempt does the same in the background."""
        found = _MUTATION.search(statement)
        if found is None:
            return False
        layout = self._clickhouse.layout
        values = {"database": layout.database, "table": found[1], "command": found[2]}
        sql = _UNDER_WAY.format(mutations=layout.everywhere("system.mutations"))
        return bool(self._clickhouse.rows(sql, values))
