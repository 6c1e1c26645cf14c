"""The sessions of a read by a rare value, such as those of a user.

A page by such a value would otherwise search range after range of time. What a few sessions have is
found by the index of `agent_sessions`, and a read of these sessions alone is quick.
"""

from typing import NamedTuple

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.filters import Filters
from shared.foundation.clickhouse.settings import SMALL_PAGE
from shared.foundation.clickhouse.slices import TimeRange
from shared.foundation.clickhouse.where import Where, us
from shared.reading.dimensions.conditions import FIRSTS, may_have
from shared.reading.dimensions.first_values import SELECTED, FirstValues
from shared.reading.dimensions.names import PREFIX

# With more sessions the search by time soon fills a page.
MOST = 300
_NAMES = ("user_id", "agent_version", "tag")
_ROWS = "SELECT session_id FROM agent_sessions WHERE org_id = {org_id:String}"
# The sessions are found by their key.
_SETTINGS = {**SMALL_PAGE, "optimize_use_projections": 0}


class FewSessions(NamedTuple):
    """Sessions that contain all events of a read, the ranges of their events, and more.

    `of_first` has for each filter by an effective value the sessions whose value it is, `firsts`
    the first values of each session.
    """

    ranges: dict[str, TimeRange]
    of_first: dict[str, list[str]]
    firsts: dict[str, FirstValues]

    @property
    def span(self) -> TimeRange:
        """The range of all of their events."""
        ranges = self.ranges.values()
        return TimeRange(
            min((one.start for one in ranges), default=0),
            max((one.stop for one in ranges), default=0),
        )


def narrow(where: Where, wanted: Filters) -> None:
    """Requires a session that may have the values of dimensions that `wanted` names, if any."""
    for one in _conditions(where, wanted):
        where.add(f"session_id IN ({_ROWS} AND {one})")


def sessions_of(clickhouse: ClickHouse, org_id: str, wanted: Filters) -> list[str] | None:
    """Returns the sessions that may have the values that `wanted` names.

    None if it names none, and for more than `MOST` sessions.
    """
    where = Where(org_id)
    ids = _ids(where, wanted)
    if ids is None:
        return None
    rows = clickhouse.rows(ids, where.params, settings=_SETTINGS)
    return [row[0] for row in rows] if len(rows) <= MOST else None


def of_events(clickhouse: ClickHouse, org_id: str, wanted: Filters) -> FewSessions | None:
    """Returns the sessions of the events that may have the values that `wanted` names.

    None if it names none, and for more than `MOST` sessions.
    """
    where = Where(org_id)
    ids = _ids(where, wanted)
    if ids is None:
        return None
    names = [name for name in FIRSTS if wanted[name]]
    have_it = "".join(f", {FIRSTS[name]} IN {_values(name)}" for name in names)
    rows = clickhouse.rows(
        f"SELECT session_id, {us('min(started_at)')}, {us('max(last_event_at)')},"
        f" {SELECTED}{have_it}"
        f" FROM agent_sessions WHERE org_id = {{org_id:String}} AND session_id IN ({ids})"
        " GROUP BY session_id",
        where.params,
        settings=_SETTINGS,
    )
    if len(rows) > MOST:
        return None
    return FewSessions(
        {row[0]: TimeRange(row[1], row[2] + 1) for row in rows},
        {name: [row[0] for row in rows if row[4 + place]] for place, name in enumerate(names)},
        {row[0]: row[3] for row in rows},
    )


def _ids(where: Where, wanted: Filters) -> str | None:
    """Returns SQL of the ids, one more than `MOST` of them."""
    conditions = _conditions(where, wanted)
    if not conditions:
        return None
    # Of one session each value may be in another row.
    first, *others = conditions
    more = "".join(f" AND session_id IN ({_ROWS} AND {one})" for one in others)
    return f"{_ROWS.replace('SELECT', 'SELECT DISTINCT')} AND {first}{more} LIMIT {MOST + 1}"


def _conditions(where: Where, wanted: Filters) -> list[str]:
    found = []
    for name in _NAMES:
        if wanted[name]:
            where.params[f"any_{name}"] = list(wanted[name])
            found.append(may_have(f"'{name}'", _values(name)))
    for number, one in enumerate(wanted["attr"]):
        if one.values is not None:
            key, values = f"few_key_{number}", f"few_{number}"
            where.params |= {key: PREFIX + one.key, values: list(one.values)}
            found.append(may_have(f"{{{key}:String}}", f"{{{values}:Array(String)}}"))
    return found


def _values(name: str) -> str:
    return f"{{any_{name}:Array(String)}}"


def add_effective(where: Where, few: FewSessions, wanted: Filters) -> None:
    """Requires that events of `few` have the effective values that `wanted` names."""
    for name, sessions in few.of_first.items():
        where.add(
            f"{name} IN {_values(name)} OR isNull({name})"
            f" AND session_id IN {{first_{name}:Array(String)}}",
            **{f"any_{name}": list(wanted[name]), f"first_{name}": sessions},
        )
