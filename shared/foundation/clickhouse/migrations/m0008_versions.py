"""Events that are stored can be written again, with other values in derived columns.

Of the rows with one key the highest `version` counts, which was computed and is now a default. A
row that is written again names its own (`shared.foundation.clickhouse.rewriting`). Only the
metadata changes. Processes of the previous release insert no version, and get the default.
"""

from shared.foundation.clickhouse.ddl import Ddl

# No release misses anything: the type stays, and an insert without the column gets the same value.
unused_since = 0

_VERSION = (
    "ALTER TABLE {table:events} MODIFY COLUMN version UInt64 %s bitNot(arrival) CODEC(Delta, LZ4)"
)


def up(ddl: Ddl) -> None:
    """Lets an insert name the version."""
    ddl.run(_VERSION % "DEFAULT")


def down(ddl: Ddl) -> None:
    """Computes the version of all inserts again; stored ones stay."""
    ddl.run(_VERSION % "MATERIALIZED")
