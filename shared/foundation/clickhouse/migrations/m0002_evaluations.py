"""Evaluation results: each job appends one; a copy that is stored twice counts as one row."""

from shared.foundation.clickhouse.ddl import Ddl

EVALUATIONS = """
CREATE TABLE {table:evaluations} (
    org_id LowCardinality(String),
    evaluation_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    agent_id LowCardinality(String),
    environment LowCardinality(String),
    status LowCardinality(String),
    scores Map(LowCardinality(String), Float64),
    reasoning Map(LowCardinality(String), String),
    summary Nullable(String) CODEC(ZSTD(1)),
    error Nullable(String) CODEC(ZSTD(1)),
    attempt_count UInt32,
    duration_ms Nullable(UInt32),
    completed_at DateTime64(6, 'UTC') CODEC(Delta, LZ4),
    INDEX session_filter session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(completed_at)
ORDER BY (org_id, completed_at, evaluation_id)
"""


def up(ddl: Ddl) -> None:
    """Creates the table."""
    ddl.run(EVALUATIONS)


def down(ddl: Ddl) -> None:
    """Drops the table."""
    ddl.drop_table("evaluations")
