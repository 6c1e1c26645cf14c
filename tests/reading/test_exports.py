"""Exports of the recording, compared with what SQL counts and adds up."""

import io
import json
from collections import Counter

import pytest
from flask.testing import FlaskClient
from pyarrow import compute, parquet

from shared.foundation.deployment.runtime import Runtime
from tests.reading.conftest import AirlineOrg

# ClickHouse's type of a column → the function that adds it up exactly.
NUMBERS = ("input_tokens", "output_tokens", "duration_ms", "is_error", "id")


def test_events_of_parquet_are_those_that_sql_counts(
    client: FlaskClient, runtime: Runtime, airline_org: AirlineOrg
) -> None:
    answer = client.get("/v1/exports/events?format=parquet", headers=airline_org.headers)
    table = parquet.read_table(io.BytesIO(answer.data))
    sums = ", ".join(f"sum(toUInt64({name}))" for name in NUMBERS)
    [expected] = runtime.clickhouse.rows(
        f"SELECT count(), uniqExact(session_id), sum(length(payload)), {sums} FROM events FINAL"
        " WHERE org_id = {org_id:String}",
        {"org_id": airline_org.org.id},
    )
    payloads = sum(len(one.encode()) for one in table["payload"].to_pylist())
    found = [compute.sum(table[name]).as_py() or 0 for name in NUMBERS]
    sessions = len(table["session_id"].unique())
    assert (len(table), sessions, payloads, *found) == tuple(one or 0 for one in expected)
    assert len(table) == len(airline_org.recording.lines)


def test_lines_have_the_payloads_that_were_sent(
    client: FlaskClient, airline_org: AirlineOrg
) -> None:
    answer = client.get("/v1/exports/events", headers=airline_org.headers)
    sent = Counter(map(_canonical, airline_org.recording.lines))
    exported: Counter[str] = Counter()
    for line in answer.data.splitlines():
        exported[json.dumps(json.loads(line)["payload"], sort_keys=True)] += 1
    assert exported == sent


def _canonical(line: bytes) -> str:
    return json.dumps(json.loads(line), sort_keys=True)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_two_ranges_that_meet_hold_every_event_once(
    client: FlaskClient, airline_org: AirlineOrg, share: float
) -> None:
    lines = sorted(json.loads(one)["timestamp"] for one in airline_org.recording.lines)
    middle = lines[int(len(lines) * share)]
    ids: list[int] = []
    for bound in (f"ts_to={middle}", f"ts_from={middle}"):
        answer = client.get(f"/v1/exports/events?{bound}", headers=airline_org.headers)
        found = [json.loads(line)["id"] for line in answer.data.splitlines()]
        assert found
        ids += found
    assert len(ids) == len(set(ids)) == len(lines)


def test_sessions_add_up_to_the_events(
    client: FlaskClient, runtime: Runtime, airline_org: AirlineOrg
) -> None:
    answer = client.get("/v1/exports/sessions?format=parquet", headers=airline_org.headers)
    rows = parquet.read_table(io.BytesIO(answer.data)).to_pylist()
    [expected] = runtime.clickhouse.rows(
        "SELECT uniqExact(session_id), count(), countIf(is_error), sum(input_tokens),"
        " sum(output_tokens) FROM events FINAL WHERE org_id = {org_id:String}",
        {"org_id": airline_org.org.id},
    )
    names = ("event_count", "error_count", "input_tokens", "output_tokens")
    sums = [sum(row[name] for row in rows) for name in names]
    assert (len(rows), *sums) == tuple(one or 0 for one in expected)
    assert all(
        row["event_count"] == sum(agent["event_count"] for agent in row["agents"]) for row in rows
    )
