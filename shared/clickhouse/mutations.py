"""Mutations: deletes that ClickHouse takes on at once and works off by itself, part by part."""

from typing import NamedTuple

from shared.clickhouse.client import ClickHouse


class Mutation(NamedTuple):
    """One that is not done: `parts` are still to do, `failure` is why the last try ended, or ""."""

    table: str
    parts: int
    failure: str


_UNFINISHED = """
SELECT table, parts_to_do, latest_fail_reason FROM {mutations}
WHERE database = {{database:String}} AND NOT is_done AND NOT is_killed
    AND position(command, {{mentions:String}}) > 0
"""


def unfinished(clickhouse: ClickHouse, mentions: str = "") -> list[Mutation]:
    """Those of all servers, of whichever table, whose statement has the text `mentions` in it."""
    layout = clickhouse.layout
    rows = clickhouse.rows(
        _UNFINISHED.format(mutations=layout.everywhere("system.mutations")),
        {"database": layout.database, "mentions": mentions},
    )
    return [
        Mutation(layout.public(str(table)), int(parts), _first_line(str(failure)))
        for table, parts, failure in rows
    ]


def _first_line(failure: str) -> str:
    return failure.partition("Stack trace")[0].strip()
