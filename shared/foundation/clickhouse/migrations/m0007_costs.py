"""The cost of a call, in dollars with 12 decimals, and where it comes from.

Calls that were stored before have none; nothing is rewritten.
"""

from shared.foundation.clickhouse.ddl import Ddl

_COLUMNS = {
    "cost_usd": "Nullable(Decimal(38, 12))",
    "reported_usd": "Nullable(Decimal(38, 12))",
    "computed_usd": "Nullable(Decimal(38, 12))",
    "cost_source": "LowCardinality(Nullable(String))",
    "unpriced_reason": "LowCardinality(Nullable(String))",
    "price_id": "LowCardinality(Nullable(String))",
    "cost_notes": "Array(LowCardinality(String))",
}


def up(ddl: Ddl) -> None:
    """Adds the columns."""
    for name, type_ in _COLUMNS.items():
        ddl.run(f"ALTER TABLE {{table:events}} ADD COLUMN IF NOT EXISTS {name} {type_}")


def down(ddl: Ddl) -> None:
    """Drops them."""
    for name in _COLUMNS:
        ddl.run(f"ALTER TABLE {{table:events}} DROP COLUMN IF EXISTS {name}")
