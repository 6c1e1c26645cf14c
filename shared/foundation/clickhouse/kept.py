"""The tables with rows of organizations, and the column that holds the age of a row.

Every table with a column `org_id` has a row here (a test fails for a missing one), so that
retention covers it. A purge finds the same tables by that column.
"""

from typing import NamedTuple


class AgingTable(NamedTuple):
    """A table and the column that tells how old its rows are.

    `moment` is a column of DateTime or DateTime64, or None if rows do not age. With
    `whole_sessions` a row is as old as the youngest row of its session. With `by_month` the table
    is partitioned by toYYYYMM(moment).
    """

    table: str
    moment: str | None
    whole_sessions: bool = False
    by_month: bool = True


# Sessions come first, so that a session that is still listed has its events.
KEPT: tuple[AgingTable, ...] = (
    AgingTable("agent_sessions", "last_event_at", whole_sessions=True, by_month=False),
    AgingTable("evaluations", "completed_at"),
    AgingTable("own_evaluations", "completed_at"),
    AgingTable("events", "ts"),
)
