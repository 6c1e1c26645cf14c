"""Hostile statements by route. Every module has two tables, from an id to a statement:

`REFUSED`: the guard says no. `CONTAINED`: the guard may let it through, since it can only ever see
the rows of the organization that asks; the engine sees to that. The database of the tables is
`watchpost`, that of the views `analytics`, and what other organizations have is marked `zqforeign`.
"""

from collections.abc import Mapping
from importlib import import_module

ROUTES = (
    "tables",
    "system_tables",
    "table_functions",
    "functions",
    "clauses",
    "statements",
    "hidden_text",
    "combined_queries",
    "exceptions",
    "engine_insides",
    "side_channels",
    "nesting",
)


def collected(kind: str) -> Mapping[str, str]:
    """All statements of a kind, `REFUSED` or `CONTAINED`, by `route/id`."""
    return {
        f"{route}/{name}": sql
        for route in ROUTES
        for name, sql in getattr(import_module(f"{__name__}.{route}"), kind).items()
    }
