"""Calls in ClickHouse as ingest stores them, past the stream; and what they cost there."""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import store
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.runtime import Org

# 2026-11-02T10:00:00Z
START_US = 1_793_613_600_000_000


def call(session_id: str = "s", second: int = 0, **fields: Any) -> dict[str, Any]:
    """Returns the payload of a model's answer."""
    return {
        "session_id": session_id,
        "type": "model_response",
        "second": second,
        "model": "house-1",
        "input_tokens": 1_000_000,
        "output_tokens": 0,
        **fields,
    }


def batch_of(calls: Sequence[dict[str, Any]], *, arrived_ms: int = START_US // 1000) -> Batch:
    """Returns the batch of these calls; the same payload has the same id."""
    payloads = [msgspec.json.encode(one) for one in calls]
    digests = [hashlib.blake2b(one, digest_size=8).digest() for one in payloads]
    return Batch(
        [int.from_bytes(one, "big") >> 11 for one in digests],
        [START_US + one["second"] * 1_000_000 for one in calls],
        [(arrived_ms << 21) + place for place in range(len(calls))],
        [one["session_id"] for one in calls],
        [one.get("agent_id", "a") for one in calls],
        [one["type"] for one in calls],
        [one.get("environment", "default") for one in calls],
        payloads,
    )


def store_calls(
    runtime: Runtime, org: Org, calls: Sequence[dict[str, Any]], *, arrived_ms: int | None = None
) -> None:
    """Stores calls with the organization's prices of now."""
    arrived = {} if arrived_ms is None else {"arrived_ms": arrived_ms}
    rules = IngestRulesCache(runtime)([org.id])[org.id]
    store.insert(runtime.clickhouse, columns_of(org.id, batch_of(calls, **arrived), rules))


def store_as_before(runtime: Runtime, org: Org, calls: Sequence[dict[str, Any]]) -> None:
    """Stores calls as a release did that knew neither costs nor the parts of tokens."""
    batch = batch_of(calls)
    runtime.clickhouse.insert(
        "events",
        {
            "org_id": [org.id] * len(batch),
            "id": batch.ids,
            "session_id": batch.session_ids,
            "agent_id": batch.agent_ids,
            "event_type": batch.event_types,
            "environment": batch.environments,
            "ts": batch.ts,
            "arrival": batch.arrivals,
            "payload": batch.payloads,
            "summary": [""] * len(batch),
            "is_error": [False] * len(batch),
            "model": [one.get("model") for one in calls],
            "input_tokens": [one.get("input_tokens") for one in calls],
        },
    )


def costs_of(runtime: Runtime, org: Org) -> list[tuple[int, Decimal | None, str | None]]:
    """Returns (second, cost, source) of each stored event in order."""
    return runtime.clickhouse.rows(
        "SELECT JSONExtractInt(payload, 'second') AS second, cost_usd,"
        " CAST(cost_source, 'Nullable(String)')"
        " FROM events FINAL WHERE org_id = {org_id:String} ORDER BY second, id",
        {"org_id": org.id},
    )
