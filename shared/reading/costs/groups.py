"""What calls can be grouped by, and the SQL of each key.

The user and the version of a call are the effective ones: its own, else those of its session. A
call counts for each tag of its session. All other keys are its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.foundation.clickhouse.event_columns import TABLE
from shared.foundation.clickhouse.where import Where
from shared.foundation.core.errors import Invalid
from shared.reading.dimensions.conditions import FIRST_USER, FIRST_VERSION, MOST_SEEN
from shared.reading.dimensions.names import PREFIX, is_key

MAX_GROUPS = 2
TAG, SESSION = "tag", "session_id"
_OWN = (SESSION, "agent_id", "model", "provider", "service_tier", "environment", "cost_source")
# A dimension of sessions → its SQL over the rows of a session, for calls without their own.
_OF_SESSION = {"user_id": FIRST_USER, "agent_version": FIRST_VERSION}
GROUPS = (*_OWN, *_OF_SESSION, TAG)

# `c` are calls, `s` the sessions that have some of the dimensions, and `t` the tags of sessions.
_SESSIONS = """
LEFT JOIN (
    SELECT session_id, {values}
    FROM agent_sessions
    WHERE org_id = {{org_id:String}} AND session_id IN (
        SELECT session_id FROM agent_sessions
        WHERE org_id = {{org_id:String}} AND ({have_one})
    )
    GROUP BY session_id
) AS s ON c.session_id = s.session_id
"""
_REMEMBERED = f"""
    SELECT session_id, groupUniqArrayArray(seen_values['tag']) AS tags
    FROM agent_sessions
    WHERE org_id = {{org_id:String}} AND notEmpty(seen_values['tag'])
    GROUP BY session_id
    HAVING length(tags) %s {MOST_SEEN}
"""
# Of a session that may have more tags than are remembered, its events tell which stand first.
_TAGS = f"""
LEFT JOIN (
    {_REMEMBERED % "<"}
    UNION ALL
    SELECT session_id, arraySlice(
        arraySort(groupUniqArrayArray(CAST(tags, 'Array(String)'))), 1, {MOST_SEEN}) AS tags
    FROM {TABLE} FINAL
    WHERE org_id = {{org_id:String}}
        AND session_id IN (SELECT session_id FROM ({_REMEMBERED % ">="}))
    GROUP BY session_id
) AS t ON c.session_id = t.session_id
"""
_EACH_TAG = "arrayJoin(if(empty(t.tags), [NULL], CAST(t.tags, 'Array(Nullable(String))')))"


class CallGroups(NamedTuple):
    """SQL that groups calls.

    `own` are values of a call, with their names; `columns` are the columns of events that they
    read. `keys` are the keys of rows `c` with the own values, after `joins`.
    """

    own: tuple[str, ...]
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    joins: str


def require_groups(names: Sequence[str]) -> None:
    """Raises `Invalid` naming `group_by` unless these are at most two different dimensions."""
    for name in names:
        is_attribute = name.startswith(PREFIX) and is_key(name.removeprefix(PREFIX))
        if name not in GROUPS and not is_attribute:
            raise Invalid.field("group_by", f"must be of {', '.join(GROUPS)}, {PREFIX}<key>")
    if len(names) > MAX_GROUPS or len(set(names)) < len(names):
        raise Invalid.field("group_by", f"takes at most {MAX_GROUPS} different dimensions")


def groups_of(names: Sequence[str], where: Where) -> CallGroups:
    """Returns how to group by these dimensions; adds the parameters to `where`."""
    own, columns, keys = [], [], []
    for number, name in enumerate(names):
        if name == TAG:
            keys.append(_EACH_TAG)
            continue
        value = f"CAST({name}, 'Nullable(String)')"
        if name.startswith(PREFIX):
            bound = f"{{group_{number}:String}}"
            where.params[f"group_{number}"] = name.removeprefix(PREFIX)
            value = f"if(mapContains(attributes, {bound}), attributes[{bound}], NULL)"
        columns.append("attributes" if name.startswith(PREFIX) else name)
        own.append(f"{value} AS own_{number}")
        of_call = f"c.own_{number}"
        keys.append(f"ifNull({of_call}, s.first_{name})" if name in _OF_SESSION else of_call)
    return CallGroups(tuple(own), tuple(columns), tuple(keys), _joins(names))


def _joins(names: Sequence[str]) -> str:
    joins = _TAGS if TAG in names else ""
    of_session = {name: sql for name, sql in _OF_SESSION.items() if name in names}
    if of_session:
        joins += _SESSIONS.format(
            values=", ".join(
                f"nullIf({sql}, '') AS first_{one}" for one, sql in of_session.items()
            ),
            have_one=" OR ".join(f"notEmpty(seen_values['{name}'])" for name in of_session),
        )
    return joins
