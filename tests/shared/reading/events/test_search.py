"""Search finds text in keys and values, escaped or not, and nowhere else."""

from collections.abc import Iterator

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.where import Where
from shared.reading.events.search import add_search


@pytest.fixture(scope="module")
def clickhouse(clickhouse_url: str) -> Iterator[ClickHouse]:
    client = ClickHouse(clickhouse_url)
    yield client
    client.close()


def found(clickhouse: ClickHouse, payload: str, needle: str, *excluded: str) -> bool:
    where = Where("o")
    add_search(where, [needle], list(excluded))
    params = {**where.params, "payload": payload}
    sql = "SELECT count() FROM (SELECT 'o' AS org_id, {payload:String} AS payload)"
    return bool(clickhouse.rows(f"{sql} WHERE {where}", params)[0][0])


@pytest.mark.parametrize(
    ("payload", "needle"),
    [
        (r'{"a":"h\u00e9llo"}', "HÉLLO"),
        ('{"a":"héllo"}', "hÉl"),
        (r'{"a":"x\/y"}', "x/y"),
        ('{"a":"x/y"}', "x/y"),
        (r'{"a":"say \"hi\""}', '"hi"'),
        ('{"a":12.5}', "12.5"),
        ('{"a":true}', "TRUE"),
        (r'{"a":"\u0041bc"}', "abc"),
        (r'{"a":"\ud83d\ude00"}', "😀"),
        ('{"a":"😀"}', "😀"),
        ('{"Key":1}', "kEY"),
        (r'{"a":"x\ny"}', "x\ny"),
        (r'{"a":"a\\b"}', "a\\b"),
        ('{"a":"50% (off) [x]*"}', "(off) [X]*"),
        ('{"a":"b, c"}', ", c"),
        ('{"a":{"b":[null, {"deep":"needle"}]}}', "needle"),
        ('{"a":"it\'s"}', "it's"),
    ],
)
def test_found(clickhouse: ClickHouse, payload: str, needle: str) -> None:
    assert found(clickhouse, payload, needle)


@pytest.mark.parametrize(
    ("payload", "needle"),
    [
        ('{"a":"b"}', '":"'),
        ('{"a":"b"}', ":"),
        (r'{"a":"\u0041bc"}', "0041"),
        (r'{"a":"b\\","c":"d"}', ',"'),
        ('{"a":"zz"}', "a z"),
        ('{"a":"x"}', ".*"),
    ],
)
def test_not_found(clickhouse: ClickHouse, payload: str, needle: str) -> None:
    assert not found(clickhouse, payload, needle)


def test_excluded_keys_are_not_searched(clickhouse: ClickHouse) -> None:
    payload = '{"system":"secret word","note":"other"}'
    assert found(clickhouse, payload, "secret")
    assert not found(clickhouse, payload, "secret", "system")
    assert not found(clickhouse, payload, "system", "system")
    assert found(clickhouse, payload, "other", "system")
