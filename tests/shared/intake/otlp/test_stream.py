"""The streams of records: cut into shards and entries, read in order, removed with their MULTI."""

import random

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import SHARDS
from shared.intake.ingest.batch import ENTRY_BYTES
from shared.intake.otlp import stream
from shared.intake.otlp.cutting import entries_of
from shared.intake.otlp.records import LogRecord, Records, Span, decode_records
from tests.support.records import make_log, make_records, make_span
from tests.support.runtime import Org, make_org


def services_of(records: Records) -> dict[str, str]:
    """Returns the name of each span's service, by the span's name."""
    return {
        span.name: records.resources[span.resource].attributes["service.name"]
        for span in records.spans
    }


def test_all_records_of_a_trace_are_in_one_shard() -> None:
    spans = [make_span(trace, span) for trace in range(1, 100) for span in range(1, 4)]
    logs = [make_log(n, trace_id=f"{n:032x}") for n in range(1, 100)]
    shards_of: dict[str, set[int]] = {}
    for shard, data in entries_of(make_records(spans, logs)):
        records = decode_records(data)
        both: list[Span | LogRecord] = [*records.spans, *records.logs]
        for record in both:
            shards_of.setdefault(record.trace_id, set()).add(shard)
    assert len(shards_of) == 99
    assert all(len(shards) == 1 for shards in shards_of.values())
    assert set.union(*shards_of.values()) == set(range(SHARDS))


def test_records_without_a_trace_are_spread() -> None:
    entries = list(entries_of(make_records(logs=[make_log(n) for n in range(100)])))
    assert sum(len(decode_records(data)) for _, data in entries) == 100
    assert {shard for shard, _ in entries} == set(range(SHARDS))


def test_a_large_request_becomes_entries_of_a_megabyte() -> None:
    noise = random.Random(1)
    spans = [make_span(1, n, name=str(n), resource=n % 3) for n in range(1, 41)]
    for span in spans:
        span.attributes = {"text": noise.randbytes(50_000).hex()}
    expected = {span.name: f"service-{span.resource}" for span in spans}
    entries = [data for _, data in entries_of(make_records(spans, services=3))]
    assert len(entries) > 1
    assert max(map(len, entries)) <= ENTRY_BYTES
    read = [decode_records(data) for data in entries]
    assert [span.name for records in read for span in records.spans] == list(expected)
    assert {k: v for records in read for k, v in services_of(records).items()} == expected


def test_an_entry_has_only_the_resources_of_its_records() -> None:
    spans = [make_span(n, 1, name=str(n), resource=n) for n in range(1, 100)]
    read = [decode_records(data) for _, data in entries_of(make_records(spans, services=200))]
    assert sum(len(records.resources) for records in read) == 99
    assert {k: v for records in read for k, v in services_of(records).items()} == {
        str(n): f"service-{n}" for n in range(1, 100)
    }


def test_entries_are_read_in_order_and_removed(runtime: Runtime, org: Org) -> None:
    client = runtime.redis
    for number in range(1, 4):
        stream.append(client, org.id, org.slug, make_records([make_span(1, number)]))
    [shard] = [shard for org_id, shard in stream.active(client) if org_id == org.id]
    first, second = stream.read(client, org.id, shard, 2)
    [third] = stream.read(client, org.id, shard, 2, after=second.entry_id)
    read = [decode_records(entry.data).spans[0].span_id for entry in (first, second, third)]
    assert read == [f"{number:016x}" for number in range(1, 4)]
    assert first.org_slug == org.slug
    for entries in ([first], [second, third]):
        assert (org.id, shard) in stream.active(client)
        with client.pipeline(transaction=True) as pipe:
            stream.remove(pipe, org.id, shard, [entry.entry_id for entry in entries])
            pipe.execute()
    assert (org.id, shard) not in stream.active(client)
    assert stream.read(client, org.id, shard, 1) == []


def test_all_streams_of_an_organization_are_removed(runtime: Runtime, org: Org) -> None:
    client = runtime.redis
    other_org = make_org(runtime)
    for each in (org, other_org):
        spans = [make_span(trace) for trace in range(1, 30)]
        stream.append(client, each.id, each.slug, make_records(spans))
    assert stream.remove_all(client, org.id) == SHARDS
    assert not client.exists(*stream.stream_keys(org.id))
    assert {org_id for org_id, _ in stream.active(client)} >= {other_org.id}
    assert org.id not in {org_id for org_id, _ in stream.active(client)}
