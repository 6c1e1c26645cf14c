"""The events and records of an organization in Redis before workers store them."""

from typing import Any

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import SHARDS, event_stream
from shared.intake.ingest.batch import decode_batch
from shared.intake.otlp import stream as otlp_stream
from shared.intake.otlp.records import Records, decode_records
from tests.support.runtime import Org


def waiting_payloads(runtime: Runtime, org: Org) -> list[bytes]:
    """Returns the payloads of all accepted events that are not stored yet, in order."""
    entries: Any = runtime.redis.xrange(event_stream(org.id))
    batches = [decode_batch(fields[b"data"]) for _, fields in entries]
    return [payload for batch in batches for payload in batch.payloads]


def waiting_records(runtime: Runtime, org: Org) -> list[Records]:
    """Returns all accepted records of OpenTelemetry that are not assigned yet."""
    return [
        decode_records(entry.data)
        for shard in range(SHARDS)
        for entry in otlp_stream.read(runtime.redis, org.id, shard, 1000)
    ]
