"""Conditions decided in ClickHouse, compared with a decision in Python for each session."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.evaluation.evaluators.conditions.deciding import decide
from shared.evaluation.evaluators.conditions.fields import FIELDS, NUMBER, OCCURS, ONE_OF
from shared.evaluation.evaluators.conditions.nodes import Condition, Leaf
from shared.evaluation.evaluators.conditions.parsing import parse
from shared.evaluation.evaluators.conditions.statement import condition_sql
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.ids import new_id
from tests.shared.evaluation.evaluators.conditions.conftest import ODD, DecidedOrg
from tests.support.conditions import SessionEvents

TEXTS = ["production", "canary", "success", "ÄRGER", "root", "helper", "error", "agent_end", *ODD]
# In the recording and in the odd sessions; each occurs in some payloads and not in all.
NEEDLES = [
    *(
        "refund",
        "KELVIN",
        "elvin",
        "base",
        "% (Off",
        'y "hi',
        "/y\n",
        "x/y",
        "12.5",
        "true",
        "ärger",
    ),
    *("text", "öü \U0001f600", "nothing has this", "it broke", "String}", 'c"d\\', "a'b"),
]
# A fixture of the whole run is not made again for each example.
RANDOM = settings(
    max_examples=80,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
LEAVES = st.one_of(
    [
        st.builds(
            Leaf,
            st.sampled_from([field.name for field in FIELDS.values() if field.kind is kind]),
            st.sampled_from(kind.ops),
            values,
        )
        for kind, values in {
            ONE_OF: st.lists(st.sampled_from(TEXTS), min_size=1, unique=True).map(tuple),
            OCCURS: st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3, unique=True).map(
                tuple
            ),
            NUMBER: st.sampled_from([0.0, 1.0, 2.0, 4.5, 5.0, 900.0, 1e6, -1.0]),
        }.items()
    ]
    + [st.builds(Leaf, st.just("ended"), st.just("is"), st.booleans())]
)


def as_json(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, Leaf):
        value = condition.value
        listed = list(value) if isinstance(value, tuple) else value
        return {"field": condition.field, "op": condition.op, "value": listed}
    raise AssertionError(condition)


def trees(below: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(below, min_size=1, max_size=4)
    return st.one_of(
        several.map(lambda parts: {"all": parts}),
        several.map(lambda parts: {"any": parts}),
        below.map(lambda part: {"not": part}),
    )


CONDITIONS = st.recursive(LEAVES.map(as_json), trees, max_leaves=12)


def expected(org: DecidedOrg, condition: Condition) -> dict[str, Leaf | None]:
    return {name: session.against(condition) for name, session in org.sessions.items()}


def parsed(field: str, op: str, value: object) -> Condition:
    condition = parse({"field": field, "op": op, "value": value})
    assert condition is not None
    return condition


def values_of(field: str, sessions: Sequence[SessionEvents]) -> list[object]:
    """Returns values with which the comparisons of a field differ between sessions."""
    kind = FIELDS[field].kind
    if kind.value == "boolean":
        return [True, False]
    if kind is NUMBER:
        found = sorted({session.value(field) for session in sessions})
        middle = found[len(found) // 2]
        return [found[0], middle, middle + 0.5, found[-1], 0]
    if kind.value == "text" and field == "payload":
        return list(NEEDLES)
    if kind.value == "text":
        names = [str(session.events[0]["session_id"]) for session in sessions]
        return [names[0], *(name[:length] for name in names[:5] for length in (1, 2))]
    if kind is ONE_OF:
        texts = {session.value(field) for session in sessions} - {""}
    else:
        texts = {text for session in sessions for text in session.texts(field)} - {""}
    listed = sorted(texts)
    return [listed[:1], listed[-2:], listed[:100], ["not there"], ["not there", *listed[:1]]]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", ["airline_sessions", "odd_sessions"])
def test_each_comparison(
    clickhouse: ClickHouse, request: pytest.FixtureRequest, name: str, field: str
) -> None:
    org: DecidedOrg = request.getfixturevalue(name)
    values = values_of(field, list(org.sessions.values()))
    for op in FIELDS[field].kind.ops:
        for value in values:
            condition = parsed(field, op, value)
            found = decide(clickhouse, org.org_id, list(org.sessions), condition)
            assert found == expected(org, condition), condition


@given(given_json=CONDITIONS)
@RANDOM
def test_random_conditions(
    clickhouse: ClickHouse, odd_sessions: DecidedOrg, given_json: dict[str, Any]
) -> None:
    """A session alone is decided as it is among all, and the form that counts says the same."""
    condition = parse(given_json)
    assert condition is not None
    wanted = expected(odd_sessions, condition)
    org_id, names = odd_sessions.org_id, list(odd_sessions.sessions)
    assert decide(clickhouse, org_id, names, condition) == wanted
    one = names[crc32(str(given_json).encode()) % len(names)]
    assert decide(clickhouse, org_id, [one], condition) == {one: wanted[one]}
    sql, params = condition_sql(
        condition, "SELECT session_id FROM agent_sessions WHERE org_id = {org_id:String}"
    )
    rows = clickhouse.rows(f"SELECT session_id, applies FROM ({sql})", {**params, "org_id": org_id})
    assert sorted(rows) == sorted((name, leaf is None) for name, leaf in wanted.items())


def test_only_sessions_of_the_organization_are_decided(
    clickhouse: ClickHouse, odd_sessions: DecidedOrg
) -> None:
    condition = parsed("event_count", ">=", 0)
    known = next(iter(odd_sessions.sessions))
    found = decide(clickhouse, odd_sessions.org_id, [known, known, "unknown"], condition)
    assert found == {known: None}
    assert decide(clickhouse, str(new_id()), [known], condition) == {}


def test_without_a_condition_all_apply(clickhouse: ClickHouse, odd_sessions: DecidedOrg) -> None:
    sql, params = condition_sql(None, "SELECT 'unknown' UNION ALL SELECT {known:String}")
    known = next(iter(odd_sessions.sessions))
    rows = clickhouse.rows(sql, {**params, "org_id": odd_sessions.org_id, "known": known})
    assert rows == [(known, 0, 1)]
    assert decide(clickhouse, odd_sessions.org_id, [known], None) == {known: None}
