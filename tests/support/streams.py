"""The events of an organization in Redis before workers store them."""

from typing import Any

from shared.deployment.runtime import Runtime
from shared.events.batch import decode_batch
from shared.events.ingest.stream import stream_key
from tests.support.runtime import Org


def waiting_payloads(runtime: Runtime, org: Org) -> list[bytes]:
    """Returns the payloads of all accepted events that are not stored yet, in order."""
    entries: Any = runtime.redis.xrange(stream_key(org.id))
    batches = [decode_batch(fields[b"data"]) for _, fields in entries]
    return [payload for batch in batches for payload in batch.payloads]
