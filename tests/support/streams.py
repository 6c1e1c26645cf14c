"""What Redis holds of an organization's events before workers store them."""

from typing import Any

from shared.deployment.runtime import Runtime
from shared.events.batch import decode_batch
from shared.events.ingest.stream import stream_key
from tests.support.runtime import Org


def waiting_payloads(runtime: Runtime, org: Org) -> list[bytes]:
    """The payloads of all events that were accepted and not stored, in their order."""
    entries: Any = runtime.redis.xrange(stream_key(org.id))
    batches = [decode_batch(fields[b"data"]) for _, fields in entries]
    return [payload for batch in batches for payload in batch.payloads]
