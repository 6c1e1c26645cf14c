"""Mutations: deletes that ClickHouse accepts at once and carries out by itself, part by part."""

from typing import NamedTuple

from shared.foundation.clickhouse.client import ClickHouse


class Mutation(NamedTuple):
    """An unfinished mutation: `parts` are left, `failure` is the error of the last try, or ""."""

    table: str
    parts: int
    failure: str


_UNFINISHED = """
SELECT table, parts_to_do, latest_fail_reason FROM {mutations}
WHERE database = {{database:String}} AND NOT is_done AND NOT is_killed
    AND position(command, {{mentions:String}}) > 0
"""


def unfinished(clickhouse: ClickHouse, mentions: str = "") -> list[Mutation]:
    """Lists the mutations on all servers whose statement contains the text `mentions`."""
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
