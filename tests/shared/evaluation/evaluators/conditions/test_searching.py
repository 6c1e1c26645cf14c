"""The shortcut of a search leaves out no payload that the pattern matches."""

from collections.abc import Iterator

import pytest

from shared.evaluation.evaluators.conditions.searching import contains_sql
from shared.foundation.clickhouse import ClickHouse
from shared.reading.events.search import pattern_of

PAYLOADS = [
    '{"a":"Kelvin base"}',
    '{"a":"\u212aelvin ba\u017fe"}',
    r'{"a":"\u212aelvin ba\u017fe \u006belvin"}',
    r'{"a":"\u0062uy \u0042UY b\u0075y"}',
    r'{"a":"either\/or","b":"x\\y","c":"say \"buy\"","d":"x\ty"}',
    '{"a":"either/or", "buy":12.5e3}',
    '{"a":"50% (off) [x]*"}',
    '{"a":"[x]^`{|}~"}',
]
NEEDLES = [
    *(
        "kelvin",
        "KELVIN BASE",
        "base",
        "bas",
        "sks",
        "buy",
        "bUy",
        "either/or",
        "er/",
        'y "b',
        "x\\y",
    ),
    *("x\ty", "12.5E3", "% (off) [", "]^`{|}~", "x]*", "nothing", "\u212aelvin", "ba\u017fe"),
]


@pytest.fixture(scope="module")
def clickhouse(clickhouse_url: str) -> Iterator[ClickHouse]:
    client = ClickHouse(clickhouse_url)
    yield client
    client.close()


def matching(clickhouse: ClickHouse, condition: str, params: dict[str, object]) -> list[str]:
    sql = "SELECT arrayJoin({payloads:Array(String)}) AS payload"
    rows = clickhouse.rows(
        f"SELECT payload FROM ({sql}) WHERE {condition} ORDER BY payload",
        {**params, "payloads": PAYLOADS},
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize("needle", NEEDLES)
def test_the_same_payloads_as_the_pattern(clickhouse: ClickHouse, needle: str) -> None:
    params: dict[str, object] = {"pattern": pattern_of(needle)}
    wanted = matching(clickhouse, "match(payload, {pattern:String})", params)
    assert bool(wanted) == (needle not in ("nothing", "sks"))
    assert matching(clickhouse, *contains_sql("leaf_1", needle)) == wanted
