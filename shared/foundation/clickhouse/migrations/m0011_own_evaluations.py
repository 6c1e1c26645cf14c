"""Results of organizations' own evaluators, beside those of the built-in ones.

Reads that name no evaluator mean the built-in ones, so the results of others stand in a table of
their own, in the order in which they are read: one evaluator, newest first. Both have the same
columns. A result names the events that it covers by the highest arrival among them.
"""

from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations.m0002_evaluations import EVALUATIONS

# No release misses anything: an insert without these columns gets their defaults.
unused_since = 0

_RESULT = """Tuple(
    key LowCardinality(String), kind LowCardinality(String), number Nullable(Float64),
    label Nullable(String), text Nullable(String), passed Nullable(Bool),
    unit LowCardinality(Nullable(String)), labels Array(String), evidence Array(String),
    flags Array(String))"""

_COLUMNS = (
    ("evaluator", "LowCardinality(String) DEFAULT 'default'"),
    ("evaluator_version", "LowCardinality(Nullable(String))"),
    ("trigger", "LowCardinality(Nullable(String))"),
    ("results", f"Array({_RESULT}) CODEC(ZSTD(1))"),
    ("revision", "UInt64"),
    ("covered_events", "Nullable(UInt64)"),
    ("covered_until", "Nullable(DateTime64(6, 'UTC'))"),
    ("coverage", "Nullable(String) CODEC(ZSTD(1))"),
    ("input_tokens", "Nullable(UInt64)"),
    ("output_tokens", "Nullable(UInt64)"),
    ("cost_usd", "Nullable(Float64)"),
    ("backfill_id", "LowCardinality(Nullable(String))"),
)

_KEY = "ORDER BY (org_id, completed_at, evaluation_id)"
_OWN_KEY = "ORDER BY (org_id, evaluator, completed_at, evaluation_id)"


def up(ddl: Ddl) -> None:
    """Adds the columns, and creates the other table."""
    for name, type_ in _COLUMNS:
        ddl.run(f"ALTER TABLE {{table:evaluations}} ADD COLUMN IF NOT EXISTS {name} {type_}")
    columns = ",\n    ".join(f"{name} {type_}" for name, type_ in _COLUMNS)
    own = EVALUATIONS.replace("{table:evaluations}", "{table:own_evaluations}")
    own = own.replace("    INDEX session_filter", f"    {columns},\n    INDEX session_filter")
    ddl.run(own.replace(_KEY, _OWN_KEY))


def down(ddl: Ddl) -> None:
    """Drops the table and the columns."""
    ddl.drop_table("own_evaluations")
    for name, _ in _COLUMNS:
        ddl.run(f"ALTER TABLE {{table:evaluations}} DROP COLUMN IF EXISTS {name}")
