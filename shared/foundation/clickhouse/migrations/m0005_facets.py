"""Counts of the values that facets list, in every part of `events`.

docs/change/storage.md has the figures.

A facet of an organization read one column of all its events. Now it reads a row for each
combination of values in each part. A projection is part of its part: copies, merges, deletions and
purges change both together.

Agents have a projection of their own. An installation may give every session an agent of its own,
and then each of them would have all combinations of the other values.
"""

from shared.foundation.clickhouse.ddl import Ddl

_PROJECTIONS = {
    "by_facet": "org_id, environment, event_type, model, tool_name, hook_name, error_type",
    "by_agent": "org_id, agent_id",
}

# Without these a merge that drops copies, and a DELETE that hides rows, would be refused.
_SETTINGS = ("deduplicate_merge_projection_mode", "lightweight_mutation_projection_mode")


def up(ddl: Ddl) -> None:
    """Adds the projections. Old parts are read in full until the background has given them some."""
    settings = ", ".join(f"{name} = 'rebuild'" for name in _SETTINGS)
    ddl.run(f"ALTER TABLE {{table:events}} MODIFY SETTING {settings}")
    for name, columns in _PROJECTIONS.items():
        ddl.run(
            f"ALTER TABLE {{table:events}} ADD PROJECTION IF NOT EXISTS {name}"
            f" (SELECT {columns}, count() GROUP BY {columns})"
        )
        ddl.run(
            f"ALTER TABLE {{table:events}} MATERIALIZE PROJECTION {name}"
            " SETTINGS mutations_sync = 0"
        )


def down(ddl: Ddl) -> None:
    """Drops them."""
    for name in _PROJECTIONS:
        ddl.run(f"ALTER TABLE {{table:events}} DROP PROJECTION IF EXISTS {name}")
    ddl.run(f"ALTER TABLE {{table:events}} RESET SETTING {', '.join(_SETTINGS)}")
