"""Hostile statements by route. Every module has two tables, from an id to a statement:

`REFUSED`: the guard refuses it. `CONTAINED`: the guard may accept it, because the engine limits it
to the caller's own rows. The database of the tables is `watchpost`, that of the views `analytics`.
Rows of other organizations are marked `zqforeign`.
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
    """Returns all statements of a kind, `REFUSED` or `CONTAINED`, by `route/id`."""
    return {
        f"{route}/{name}": sql
        for route in ROUTES
        for name, sql in getattr(import_module(f"{__name__}.{route}"), kind).items()
    }
