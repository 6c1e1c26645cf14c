"""Runs DDL templates: `{table:name}` and `{engine:Name(args)}` are filled in here.

One place decides how a table is named and which engine stands behind it, so that a migration
states its columns and keys and nothing of the deployment's layout.
"""

import re

from shared.clickhouse.client import ClickHouse

_SLOT = re.compile(r"\{(table|engine):([^}]+)\}")


class Ddl:
    """What a migration's `up` and `down` are given."""

    def __init__(self, clickhouse: ClickHouse) -> None:
        self._clickhouse = clickhouse

    def render(self, template: str) -> str:
        """The statement that `run` sends."""
        return _SLOT.sub(lambda slot: slot.group(2), template).strip()

    def run(self, template: str) -> None:
        """Fills in `template` and runs it."""
        self._clickhouse.execute(self.render(template))

    def drop_table(self, name: str) -> None:
        """Drops a table or view and waits until its name is free again."""
        self.run(f"DROP TABLE IF EXISTS {{table:{name}}} SYNC")
