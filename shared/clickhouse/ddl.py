"""Runs DDL templates; `shared.clickhouse.layout` says what they are and fills them in.

So a migration states its columns and keys and nothing of the deployment's layout.
"""

from collections.abc import Mapping

from shared.clickhouse.client import ClickHouse


class Ddl:
    """What a migration's `up` and `down` are given."""

    def __init__(self, clickhouse: ClickHouse) -> None:
        self._clickhouse = clickhouse

    def run(self, template: str, params: Mapping[str, object] | None = None) -> None:
        """Fills in `template` and runs what comes of it; `{name:Type}` are bound from `params`."""
        for statement in self._clickhouse.layout.statements(template):
            self._clickhouse.execute(statement, params)

    def drop_table(self, name: str) -> None:
        """Drops a table or view and waits until its name is free again."""
        self.run(f"DROP TABLE IF EXISTS {{table:{name}}} SYNC")
