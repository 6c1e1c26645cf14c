"""The tables with rows of organizations, and which column tells how old a row is.

A table with a column `org_id` has a row here (a test fails for one that has none), and so it is
covered by retention. A purge finds the same tables by that column.
"""

from typing import NamedTuple


class Kept(NamedTuple):
    """A table, and when a row of it is old.

    `moment` is a column of DateTime or DateTime64, None where nothing ages. With `whole_sessions` a
    row is as old as the youngest row of its session. With `by_month` the table is partitioned by
    toYYYYMM(moment).
    """

    table: str
    moment: str | None
    whole_sessions: bool = False
    by_month: bool = True


# Sessions first: a session that is still listed has its events.
KEPT: tuple[Kept, ...] = (
    Kept("agent_sessions", "last_event_at", whole_sessions=True, by_month=False),
    Kept("evaluations", "completed_at"),
    Kept("events", "ts"),
)
