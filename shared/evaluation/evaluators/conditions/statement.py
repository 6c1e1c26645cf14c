"""The SQL of a condition: one statement, for one session and for a million.

A session's facts are read from `agent_sessions` where it has them, and otherwise from its events
in one pass. The leaves are columns of the result, and the tree above them decides.
"""

from collections.abc import Mapping
from typing import NamedTuple

from shared.evaluation.evaluators.conditions.fields import (
    FIELDS,
    FLAG,
    NUMBER,
    OCCURS,
    PREFIX,
    SEARCH,
    ConditionField,
)
from shared.evaluation.evaluators.conditions.nodes import Condition, Leaf, leaves
from shared.evaluation.evaluators.conditions.searching import contains_sql
from shared.evaluation.evaluators.conditions.tree import decided
from shared.foundation.clickhouse.event_columns import ORDER_KEY, TABLE
from shared.foundation.clickhouse.root_agent import root_agent
from shared.foundation.clickhouse.settings import PAGE

# A set of more sessions than this takes longer to look up than their events take to read.
_MANY = 100_000
# The rows of a session stand together in `agent_sessions`. Added up in this order, in small blocks,
# their states take half of the memory: 0.4 GB for the environments of a million sessions.
FOR_MANY: Mapping[str, object] = {
    **PAGE,
    "optimize_aggregation_in_order": 1,
    "max_block_size": 4096,
}
_OF_ORG = "org_id = {org_id:String}"
# The ends of agents; those of the root are told apart where it is known.
_ENDS = (
    f"groupArrayIf((CAST(agent_id, 'String'), {ORDER_KEY}, lowerUTF8(coalesce(outcome, ''))),"
    " event_type = 'agent_end')"
)
_OUTCOME = (
    "arrayReverseSort(end -> end.2, arrayFilter(end -> end.1 = s.fact_root, e.fact_ends))[1].3"
)


class ConditionSql(NamedTuple):
    """SQL with the columns `session_id`, `leaf` and `applies`, and its parameters.

    `leaf` is the place of the leaf that decided against a session, from 1, or 0 if it applies.
    """

    sql: str
    params: dict[str, object]


def condition_sql(condition: Condition | None, sessions: str) -> ConditionSql:
    """Returns the statement for the sessions whose ids the SQL `sessions` selects.

    Sessions without stored events have no row. `sessions` is read several times. The caller binds
    its parameters, and `org_id`; ours begin with `leaf_`. For many sessions it sets `FOR_MANY`.
    """
    facts = _Facts()
    decisions = [
        f", {facts.leaf(number, leaf)} AS leaf_{number}"
        for number, leaf in enumerate(leaves(condition), 1)
    ]
    return ConditionSql(
        f"""
SELECT session_id, {decided(condition)} AS leaf, leaf = 0 AS applies
FROM (
    SELECT s.session_id AS session_id{"".join(decisions)}
    FROM ({_of_sessions(facts, sessions)}) AS s
    {_joined(facts, sessions)}
)""",
        facts.params,
    )


def _of_sessions(facts: "_Facts", sessions: str) -> str:
    return f"""
        SELECT session_id{_listed(facts.of_session)}
        FROM agent_sessions
        WHERE {_OF_ORG} AND session_id IN ({sessions})
        GROUP BY session_id"""


def _joined(facts: "_Facts", sessions: str) -> str:
    """Returns the join of the facts of events; a session without such events has nothing in it."""
    if not facts.of_events:
        return ""
    # Its rows, and the range of time of all its events.
    span = f"""(SELECT (count(), min(started_at), max(last_event_at)) FROM agent_sessions
            WHERE {_OF_ORG} AND session_id IN ({sessions}))"""
    return f"""LEFT JOIN (
        SELECT session_id{_listed(facts.of_events)}
        FROM {TABLE} {"FINAL" if facts.counts else ""}
        PREWHERE {_OF_ORG} AND ts >= {span}.2 AND ts <= {span}.3
            AND ({span}.1 > {_MANY} OR session_id IN ({sessions})){facts.narrowed()}
        GROUP BY session_id
    ) AS e ON s.session_id = e.session_id"""


class _Facts:
    """The facts that the leaves of a condition need, by name, and the bound values."""

    def __init__(self) -> None:
        self.of_session: dict[str, str] = {}
        self.of_events: dict[str, str] = {}
        self.params: dict[str, object] = {}
        # Copies of an event change no set of values, but every count.
        self.counts = False
        self._which: list[str] = []

    def leaf(self, number: int, leaf: Leaf) -> str:
        """Returns the SQL of a leaf over the facts `s` and `e` of a session."""
        field, name = FIELDS[leaf.field], f"leaf_{number}"
        if field.kind is SEARCH:
            return self._search(name, str(leaf.value))
        self.params[name] = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
        if field.kind is OCCURS:
            return self._occurs(field, leaf, name)
        value = self._value(field)
        if field.kind is NUMBER:
            return f"{value} {leaf.op} {{{name}:Float64}}"
        if field.kind is FLAG:
            return f"{value} = {{{name}:Bool}}"
        if field.kind is PREFIX:
            return f"startsWith({value}, {{{name}:String}})"
        negated = "NOT " if leaf.op == "not_in" else ""
        return f"{negated}has({self._texts(field, name)}, {value})"

    def narrowed(self) -> str:
        """Returns a condition on events, if only some can have a part in any fact."""
        if "" in self._which:
            return ""
        either = " OR ".join(dict.fromkeys(f"({one})" for one in self._which))
        return f" AND ({either})"

    def _value(self, field: ConditionField) -> str:
        """Returns the SQL of a value that a session has one of."""
        if field.of_session:
            self.of_session[field.name] = field.of_session
            return f"s.fact_{field.name}"
        self.counts = True
        self._which.append(field.which)
        if field.of_events:
            self.of_events[field.name] = field.of_events
            return f"e.fact_{field.name}"
        self.of_session["root"] = root_agent()
        self.of_events["ends"] = _ENDS
        return _OUTCOME

    def _texts(self, field: ConditionField, name: str) -> str:
        bound = f"{{{name}:Array(String)}}"
        return bound if field.of_session else f"arrayMap(text -> lowerUTF8(text), {bound})"

    def _occurs(self, field: ConditionField, leaf: Leaf, name: str) -> str:
        bound = f"{{{name}:Array(String)}}"
        if field.of_session:
            self.of_session[field.name] = field.of_session
            function = "hasAll" if leaf.op == "all_of" else "hasAny"
            found = f"{function}(s.fact_{field.name}, {bound})"
            return f"NOT {found}" if leaf.op == "none_of" else found
        which = f"{field.of_events} IN {bound}"
        self._which.append(which)
        if leaf.op == "all_of":
            self.of_events[name] = f"uniqExactIf({field.of_events}, {which})"
            return f"e.fact_{name} = length({bound})"
        return self._hits(name, which, leaf.op)

    def _search(self, name: str, needle: str) -> str:
        which, params = contains_sql(name, needle)
        self.params |= params
        self._which.append(which)
        return self._hits(name, which, "contains")

    def _hits(self, name: str, which: str, op: str) -> str:
        self.of_events[name] = f"countIf({which})"
        return f"e.fact_{name} {'=' if op == 'none_of' else '>'} 0"


def _listed(facts: dict[str, str]) -> str:
    return "".join(f", {sql} AS fact_{name}" for name, sql in facts.items())
