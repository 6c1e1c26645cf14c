"""GET /v1/exports/{events,sessions,evaluations}."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from pyarrow import parquet
from sqlalchemy import select

from shared.access.audit_log.models import AuditLine
from shared.foundation.core.errors import RateLimited, Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations.records import Evaluation
from shared.reading.evaluations.store import insert
from shared.reading.events.filters import EventFilters
from shared.reading.exports import pages
from shared.reading.exports.formats import FILE_TYPES, encoded
from shared.reading.exports.places import ExportPlaces
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]
WHAT = ["events", "sessions", "evaluations"]
DAY = "ts_from=2026-11-02T00:00:00Z&ts_to=2026-11-03T00:00:00Z"


def result(org: Org, number: int, scores: dict[str, float] | None) -> Evaluation:
    return Evaluation(
        org_id=org.id,
        evaluation_id=f"e-{number}",
        session_id="s-1",
        agent_id="main",
        environment="default",
        status="done" if scores else "error",
        scores=scores,
        reasoning={"a": "größe\n"} if scores else None,
        summary=None,
        error=None if scores else "no",
        attempt_count=1,
        duration_ms=None,
        completed_at=1_793_613_600_000_000 + number,
    )


@pytest.fixture
def filled(runtime: Runtime, org: Org) -> Org:
    """An organization with rows of each kind; another one has rows of the same names."""
    for one in (make_org(runtime), org):
        lines = [
            event(f"s-{n % 2}", f"10:00:0{n}", input_tokens=n, text=f"zwei\n of {one.slug}")
            for n in range(5)
        ]
        # A payload with line breaks between its tokens, and an event outside the range.
        lines.append(event("s-0", "11:00:00").replace(b", ", b",\n"))
        lines.append(event("s-2", "11:00:00").replace(b"2026-11-02", b"2026-11-03"))
        store_events(runtime.clickhouse, one.id, lines)
        insert(runtime.clickhouse, [result(one, 1, {"a": 0.5}), result(one, 2, None)])
    return org


def lines_of(client: FlaskClient, headers: Headers, what: str) -> list[dict[str, Any]]:
    answer = client.get(f"/v1/exports/{what}?{DAY}", headers=headers)
    assert answer.status_code == 200, answer.data
    assert answer.content_type == "application/x-ndjson"
    return [json.loads(line) for line in answer.data.splitlines()]


def rows_of(client: FlaskClient, headers: Headers, what: str) -> list[dict[str, Any]]:
    answer = client.get(f"/v1/exports/{what}?{DAY}&format=parquet", headers=headers)
    assert answer.status_code == 200, answer.data
    assert answer.content_type == "application/vnd.apache.parquet"
    found: list[dict[str, Any]] = parquet.read_table(io.BytesIO(answer.data)).to_pylist()
    return found


@pytest.mark.parametrize("what", WHAT)
def test_both_formats_have_the_same_rows_of_the_organization_alone(
    client: FlaskClient, filled: Org, key: Key, what: str
) -> None:
    headers = key("events:read", "evaluations:read")
    lines, rows = lines_of(client, headers, what), rows_of(client, headers, what)
    assert len(lines) == {"events": 6, "sessions": 2, "evaluations": 2}[what]
    for line, row in zip(lines, rows, strict=True):
        assert line.keys() == row.keys()
        for name, value in row.items():
            assert _as_in_json(name, value) == line[name]
    if what == "events":
        assert all(filled.slug in line["payload"].get("text", filled.slug) for line in lines)


def _as_in_json(name: str, value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    if name == "payload":
        return json.loads(value)
    if name in ("scores", "reasoning", "attributes") and value is not None:
        return dict(value)
    return value


def test_the_rows_are_those_of_the_lists(client: FlaskClient, filled: Org, key: Key) -> None:
    headers = key("events:read", "evaluations:read")
    for what, query in (("events", "order=asc"), ("sessions", "order=asc"), ("evaluations", "")):
        listed = client.get(f"/v1/{what}?{DAY}&{query}", headers=headers).get_json()[what]
        for line, row in zip(lines_of(client, headers, what), listed, strict=True):
            shared = line.keys() & row.keys()
            assert {name: line[name] for name in shared} == {name: row[name] for name in shared}


def test_a_file_has_a_name_that_says_what_it_holds(
    client: FlaskClient, filled: Org, key: Key
) -> None:
    answer = client.get(f"/v1/exports/events?{DAY}&format=parquet", headers=key("events:read"))
    name = f"events-{filled.slug}-20261102T000000Z-20261103T000000Z.parquet"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.parametrize("what", WHAT)
def test_an_export_is_in_the_audit_log(
    client: FlaskClient, runtime: Runtime, filled: Org, key: Key, what: str
) -> None:
    lines_of(client, key("events:read", "evaluations:read"), what)
    with runtime.postgres.transaction() as session:
        [line] = session.scalars(
            select(AuditLine).where(
                AuditLine.org_id == filled.uuid, AuditLine.action == f"{what}.export"
            )
        ).all()
    assert line.after is not None
    assert line.after["ts_from"] == "2026-11-02T00:00:00.000000Z"
    assert line.after["filters"] == ["ts_from", "ts_to"]


def test_filters_of_the_lists_work(client: FlaskClient, filled: Org, key: Key) -> None:
    answer = client.get(f"/v1/exports/events?{DAY}&session_id=s-1", headers=key("events:read"))
    assert [json.loads(one)["session_id"] for one in answer.data.splitlines()] == ["s-1", "s-1"]


@pytest.mark.parametrize("query", ["format=csv", "ts_from=yesterday"])
def test_bad_parameters_are_named(client: FlaskClient, key: Key, query: str) -> None:
    answer = client.get(f"/v1/exports/events?{query}", headers=key("events:read"))
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [query.partition("=")[0]]


def test_without_the_extra_there_is_no_parquet(
    client: FlaskClient, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    headers = key("events:read")
    answer = client.get("/v1/exports/events?format=parquet", headers=headers)
    assert (answer.status_code, list(answer.get_json()["fields"])) == (422, ["format"])
    assert client.get("/v1/exports/events", headers=headers).status_code == 200


@pytest.mark.parametrize("what", WHAT)
def test_nothing_is_an_empty_file(client: FlaskClient, key: Key, what: str) -> None:
    headers = key("events:read", "evaluations:read")
    assert lines_of(client, headers, what) == []
    assert rows_of(client, headers, what) == []


def test_pages_join_without_gaps(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_EVENTS", 7)
    lines = [event("s", f"10:00:{n % 60:02}", number=n) for n in range(100)]
    stored = store_events(runtime.clickhouse, org.id, lines)
    found = [row[0] for page in _pages_of(runtime, org) for row in page]
    assert found == [one.event_id for one in sorted(stored, key=lambda one: (one.ts, one.arrival))]


def _pages_of(runtime: Runtime, org: Org) -> Iterator[list[tuple[Any, ...]]]:
    return pages.of_events(runtime.clickhouse, org.id, EventFilters())


def test_row_groups_are_written_while_rows_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first bytes of a group leave before the last row is read: memory stays bounded."""
    monkeypatch.setattr("shared.reading.exports.formats._GROUP_BYTES", 1000)
    read = 0

    def rows() -> Iterator[list[tuple[object, ...]]]:
        nonlocal read
        for read in range(1, 51):
            more = (None, None, ["t"], {"plan": "pro"}, 5, 6, 7, 8, 1, 0, 0.5, None, 0.5)
            yield [(f"s-{read}", "a", [("a", 1)], "e", 1, 0, 1, 2, None, 1, 2, 3, 4, *more)] * 20

    written, seen = bytearray(), []
    for piece in encoded("sessions", "parquet", rows()):
        written += piece
        seen.append(read)
    file = parquet.ParquetFile(io.BytesIO(bytes(written)))
    assert file.metadata.num_rows == 1000
    assert file.metadata.num_row_groups > 10
    assert seen[1] < 10


def test_few_exports_run_at_once() -> None:
    places = ExportPlaces()
    frees = [places.take("a"), places.take("a")]
    with pytest.raises(RateLimited):
        places.take("a")
    frees += [places.take("b"), places.take("b")]
    with pytest.raises(RateLimited):
        places.take("c")
    # Freeing twice frees one place.
    frees[0]()
    frees[0]()
    places.take("c")
    with pytest.raises(RateLimited):
        places.take("d")


def test_a_place_is_free_again_however_an_export_ends(
    client: FlaskClient, filled: Org, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = key("events:read")
    for _ in range(5):
        lines_of(client, headers, "events")

    def broken(*_: object, **__: object) -> None:
        raise Unavailable("ClickHouse is unavailable")

    monkeypatch.setattr(pages, "read_page", broken)
    for _ in range(5):
        assert client.get("/v1/exports/events", headers=headers).status_code == 503


def test_the_content_types_are_those_of_the_files() -> None:
    assert {one.suffix for one in FILE_TYPES.values()} == set(FILE_TYPES)
