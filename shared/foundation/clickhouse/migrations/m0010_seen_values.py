"""An index that finds the sessions with a value of a dimension, such as those of a user.

docs/change/storage.md has the figures. Sessions that were stored before have no values, so merges
are soon enough to give their parts the index.
"""

from shared.foundation.clickhouse.ddl import Ddl

# The values of a row, and the dimensions of which it may have had more than it remembers.
_VALUES = """arrayConcat(arrayFlatten(mapValues(seen_values)),
    mapKeys(mapFilter((k, v) -> length(v) >= 64, seen_values)))"""


def up(ddl: Ddl) -> None:
    """Adds the index."""
    ddl.run(
        f"ALTER TABLE {{table:agent_sessions}} ADD INDEX IF NOT EXISTS seen_filter {_VALUES}"
        " TYPE bloom_filter(0.01) GRANULARITY 1"
    )


def down(ddl: Ddl) -> None:
    """Drops it."""
    ddl.run(
        "ALTER TABLE {table:agent_sessions} DROP INDEX IF EXISTS seen_filter"
        " SETTINGS mutations_sync = 0"
    )
