"""The reference for ingest: one clickhouse-driver connection that inserts the recording's rows."""

import time
from datetime import datetime

import msgspec
import xxhash
from clickhouse_driver import Client

_TABLE = """
CREATE TABLE raw_events (
    org String, session String, agent String, type String, environment String,
    ts DateTime64(6, 'UTC'), id UInt64, payload String CODEC(ZSTD(1)),
    tool String, model String, duration UInt32
)
ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(ts) ORDER BY (org, session, ts, id)
"""
_INSERT = (
    "INSERT INTO raw_events"
    " (org, session, agent, type, environment, ts, id, payload, tool, model, duration) VALUES"
)


def insert_raw(clickhouse: Client, lines: list[bytes], blocks: int) -> float:
    """Returns events per second for `blocks` columnar blocks of all lines, in a fresh table."""
    clickhouse.execute("DROP TABLE IF EXISTS raw_events SYNC")
    clickhouse.execute(_TABLE)
    columns = _columns(lines)
    prepared = [[list(column) for column in columns] for _ in range(blocks)]
    started = time.perf_counter()
    for block in prepared:
        clickhouse.execute(_INSERT, block, columnar=True)
    elapsed = time.perf_counter() - started
    clickhouse.execute("DROP TABLE raw_events SYNC")
    return len(lines) * blocks / elapsed


def _columns(lines: list[bytes]) -> list[list[object]]:
    events = [msgspec.json.decode(line) for line in lines]
    moments = [datetime.fromisoformat(event["timestamp"]) for event in events]
    return [
        ["5f1d7c3e-0000-4000-8000-000000000000"] * len(lines),
        [event["session_id"] for event in events],
        [event["agent_id"] for event in events],
        [event["type"] for event in events],
        [event["environment"] for event in events],
        [round(moment.timestamp() * 1_000_000) for moment in moments],
        [xxhash.xxh3_64_intdigest(line) >> 11 for line in lines],
        [line.decode() for line in lines],
        [event.get("tool_name", "") for event in events],
        [event.get("model", "") for event in events],
        [event.get("duration_ms", 0) for event in events],
    ]
