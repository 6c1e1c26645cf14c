"""The SQL of retention: finds, counts and removes old rows.

A lightweight DELETE hides rows by a mask and leaves the rest of the part unchanged: 1.3 million
rows of a month took 0.4 s, for one day of them as well as for all rows of some organizations.
`ALTER … DELETE` rewrites the rest, which took 5.5 s and slowed inserts down to a fifth; if no row
remains there is nothing to write, and it took 0.3 s. DROP PARTITION took 0.1 s, but it would also
drop events that arrived since the check, of organizations that keep theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.foundation.clickhouse.kept import AgingTable
from shared.foundation.clickhouse.where import moment
from shared.foundation.core.clock import to_us
from shared.upkeep.retention.limits import RetentionLimit

# No person waits for these counts, so they use one core and leave the others to requests.
QUIET: Mapping[str, object] = {
    "max_threads": 1,
    "priority": 10,
    "do_not_merge_across_partitions_select_final": 1,
}


@dataclass(frozen=True)
class Old:
    """A condition that old rows meet, with its parameters."""

    condition: str
    params: Mapping[str, object]


def old_rows(kept: AgingTable, limits: Sequence[RetentionLimit]) -> Old:
    """Returns the condition for rows past the limit of their own organization."""
    choices, params = [], dict[str, object]()
    for number, limit in enumerate(limits):
        params |= {f"before_{number}": to_us(limit.before), f"org_ids_{number}": [*limit.org_ids]}
        if kept.whole_sessions:
            condition = f"(org_id, session_id) IN ({_old_sessions(kept, number)})"
        else:
            condition = f"{kept.moment} < {moment(f'before_{number}')}"
        choices.append(f"({_of_orgs(number)} AND {condition})")
    return Old(" OR ".join(choices), params)


def _of_orgs(number: int) -> str:
    return f"org_id IN {{org_ids_{number}:Array(String)}}"


def _old_sessions(kept: AgingTable, number: int) -> str:
    return (
        f"SELECT org_id, session_id FROM {{table:{kept.table}}} WHERE {_of_orgs(number)}"
        f" GROUP BY org_id, session_id HAVING max({kept.moment}) < {moment(f'before_{number}')}"
    )


def any_candidate(kept: AgingTable) -> str:
    """Returns a template that checks for possibly old rows of one limit; cheaper than counting."""
    return (
        f"SELECT 1 FROM {{table:{kept.table}}} WHERE {_of_orgs(0)}"
        f" AND {kept.moment} < {moment('before_0')} LIMIT 1"
    )


def count(kept: AgingTable, old: Old) -> str:
    """Returns a template that counts old rows by organization and month (YYYYMM or 0).

    It covers one limit and counts copies of a row as one.
    """
    if kept.whole_sessions:
        # The exact condition with FINAL took five times as long: 17 s for 800,000 sessions.
        return f"SELECT org_id, 0, count() FROM ({_old_sessions(kept, 0)}) GROUP BY org_id"
    month = f"toYYYYMM({kept.moment})" if kept.by_month else "0"
    return (
        f"SELECT org_id, {month} AS month, count() FROM {{table:{kept.table}}} FINAL"
        f" WHERE {old.condition} GROUP BY org_id, month"
    )


def anything_else(kept: AgingTable, old: Old, month: int) -> str:
    """Returns a template that selects a row of the month that is not old, if there is one."""
    return (
        f"SELECT 1 FROM {{table:{kept.table}}}"
        f" WHERE toYYYYMM({kept.moment}) = {month:d} AND NOT ({old.condition}) LIMIT 1"
    )


# Each replica finds the old sessions itself, and all find the same ones; the last setting allows
# that.
_SETTINGS = " SETTINGS {sync} = 0, allow_nondeterministic_mutations = 1"


def hide(kept: AgingTable, old: Old, month: int) -> str:
    """Returns a template that hides old rows; they leave the disk when their part is rewritten."""
    return (
        f"DELETE FROM {{table:{kept.table}}}{_partition(month)} WHERE {old.condition}"
        + _SETTINGS.format(sync="lightweight_deletes_sync")
    )


def remove(kept: AgingTable, old: Old, month: int) -> str:
    """Returns a template that takes old rows off the disk at once."""
    return (
        f"ALTER TABLE {{table:{kept.table}}} DELETE{_partition(month)} WHERE {old.condition}"
        + _SETTINGS.format(sync="mutations_sync")
    )


def write_again(table: str, partition_id: str) -> str:
    """Returns a template that takes hidden rows of a partition off the disk."""
    return (
        f"ALTER TABLE {{table:{table}}} APPLY DELETED MASK IN PARTITION ID '{partition_id}'"
        " SETTINGS mutations_sync = 0"
    )


def is_over(month: int, limits: Sequence[RetentionLimit]) -> bool:
    """Returns whether a month (YYYYMM) lies before all limits."""
    return all(month < limit.before.year * 100 + limit.before.month for limit in limits)


def _partition(month: int) -> str:
    return f" IN PARTITION ID '{month:d}'" if month else ""
