"""Excessive statements end at their limits, which are lowered here, and harm no other query."""

import threading
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import RUNS_AT_ONCE
from tests.security.sql.planted import Planted, plant_foreign, plant_own
from tests.support.app import Headers, new_key
from tests.support.processes import wait_until
from tests.support.runtime import connected, make_org, settings_for
from web.app import create_app
from web.state import state

# A tenth of the profile's limits or less. A connection cannot change the profile itself.
LIMITS = (
    "max_execution_time=0.4&max_memory_usage=50000000&max_rows_to_read=3000000&max_threads=1"
    "&max_result_bytes=67108864&limit=10001&readonly=1&max_temporary_data_on_disk_size_for_query=1000"
)

STATEMENTS = {
    "numbers": "SELECT sum(number) FROM numbers(1000000000000)",
    "numbers-sorted": "SELECT number FROM numbers(100000000) ORDER BY sipHash64(number)",
    "numbers-grouped": "SELECT number, count() FROM numbers(100000000) GROUP BY number",
    "numbers-crossed": "SELECT count() FROM numbers(1000000) a, numbers(1000000) b",
    "numbers-hashed": "SELECT count() FROM numbers(2900000)"
    " WHERE cityHash64(repeat('x', 999 + number % 9)) = 1",
    "series": "SELECT sum(generate_series) FROM generate_series(0, 1000000000000)",
    "range": "SELECT length(range(400000000))",
    "range-of-rows": "SELECT sum(length(range(number))) FROM numbers(100000)",
    "constant-array": "SELECT length(arrayWithConstant(900000000, 'x'))",
    "array-resize": "SELECT arrayResize([1], 900000000)",
    "array-fold": "SELECT arrayFold((a, x) -> a + x, range(30000000), 0)",
    "array-of-arrays": "SELECT arrayMap(x -> range(10000), range(100000))",
    "array-joined": "SELECT count() FROM (SELECT arrayJoin(range(100000)) AS a,"
    " arrayJoin(range(100001)) AS b)",
    "repeat": "SELECT length(repeat('x', 900000000))",
    "repeat-of-rows": "SELECT repeat('x', 100000) FROM numbers(100000)",
    "replicate": "SELECT replicate(1, range(90000000))",
    "random-string": "SELECT length(randomString(900000000))",
    "fixed-string": "SELECT toFixedString('x', 900000000)",
    "pad": "SELECT length(leftPad('x', 900000000))",
    "space": "SELECT length(space(900000000))",
    "group-array": "SELECT length(groupArray(repeat('x', 1000))) FROM numbers(1000000)",
    "group-concat": "SELECT length(groupConcat(repeat('x', 1000))) FROM numbers(1000000)",
    "distinct": "SELECT DISTINCT sipHash128(number) FROM numbers(100000000)",
    "exact-unique": "SELECT uniqExact(number) FROM numbers(100000000)",
    "window": "SELECT max(s) FROM (SELECT sum(number) OVER (ORDER BY number ROWS BETWEEN 50000"
    " PRECEDING AND 50000 FOLLOWING) AS s FROM numbers(1000000))",
    "with-fill": "SELECT number FROM numbers(1) ORDER BY number WITH FILL TO 1000000000000",
    "recursion": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n)"
    " FROM r",
    "recursion-doubling": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT a.n FROM r a, r b)"
    " SELECT count() FROM r",
    "events-crossed": "SELECT count() FROM events a, events b, events c, events d, events e,"
    " events f, events g, events h, events i",
    "regexp": "SELECT countIf(match(repeat('a', 100 + number % 9), '(a*)*(a*)*(a*)*b'))"
    " FROM numbers(2900000)",
    "factors": "SELECT sum(isPrime(number)) FROM numbers(1000000000000)",
    "json": "SELECT JSONExtract(repeat('[', 9000000), 'Array(String)')",
    "ten-thousand-ways": "SELECT "
    + ", ".join(f"sum(number * {n})" for n in range(300))
    + " FROM numbers(100000000)",
    "bitmap": "SELECT bitmapCardinality(groupBitmapState(number)) FROM numbers(100000000)",
    "result": "SELECT repeat('x', 9000) FROM numbers(10000)",
}


@pytest.fixture(scope="module")
def planted(runtime: Runtime) -> Planted:
    return Planted(plant_own(runtime), (plant_foreign(runtime), plant_foreign(runtime)))


@pytest.fixture(scope="module")
def headers(runtime: Runtime, planted: Planted) -> Headers:
    return new_key(runtime, planted.own, ["queries:run"])


@pytest.fixture(scope="module")
def limited(migrated_stack: DevStack) -> Iterator[FlaskClient]:
    """A web tier whose statements run as a user with only the limits of its connections."""
    urls = migrated_stack.urls
    schema = urls.clickhouse_readonly_url.rpartition("/")[2]
    url = f"{urls.clickhouse_url.rpartition('/')[0]}/{schema}?{LIMITS}"
    with connected(settings_for(urls, clickhouse_readonly_url=url)) as made:
        app = create_app(made)
        yield app.test_client()
        with app.app_context():
            state().queries.close()


GREEDY = (
    "SELECT length(arraySort(groupArray(concat(repeat('x', 999), toString(number)))))"
    " FROM numbers(1000000)"
)


def test_one_organization_leaves_memory_to_the_others(
    client: FlaskClient, runtime: Runtime, planted: Planted, headers: Headers
) -> None:
    greedy = new_key(runtime, make_org(runtime), ["queries:run"])
    answered, done = set[int](), threading.Event()

    def take_all_places() -> None:
        own = client.application.test_client()
        while not done.is_set():
            answer = own.post("/v1/queries/run", json={"sql": GREEDY}, headers=greedy)
            answered.add(answer.status_code)

    threads = [threading.Thread(target=take_all_places) for _ in range(RUNS_AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: bool(answered))
        question = {"sql": "SELECT count() FROM events"}
        for _ in range(100):
            answer = client.post("/v1/queries/run", json=question, headers=headers)
            assert answer.get_json()["rows"] == [[12]]
    finally:
        done.set()
        for thread in threads:
            thread.join()
    # Each statement meets its own limit, and never that of all organizations together (503).
    assert answered <= {422, 429}


@pytest.mark.parametrize("name", STATEMENTS)
def test_excessive_statements_are_ended(
    limited: FlaskClient, client: FlaskClient, planted: Planted, headers: Headers, name: str
) -> None:
    sql = STATEMENTS[name]
    answer = limited.post("/v1/queries/run", json={"sql": sql}, headers=headers)
    assert answer.status_code in (422, 503, 504), answer.get_data(as_text=True)[:300]
    assert planted.leaks(answer.get_data(as_text=True), sql=sql) == set()
    after = {"sql": "SELECT count() FROM events"}
    # The server may still be clearing up, so this may exceed the lowered limit. A connection is
    # free.
    assert limited.post("/v1/queries/run", json=after, headers=headers).status_code in (200, 504)
    assert client.post("/v1/queries/run", json=after, headers=headers).get_json()["rows"] == [[12]]
