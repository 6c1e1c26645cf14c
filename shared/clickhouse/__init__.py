"""ClickHouse: what agents did, and what came of it."""

from shared.clickhouse.client import ClickHouse, OverMemory, Row, is_over_own_memory, is_transient

__all__ = ["ClickHouse", "OverMemory", "Row", "is_over_own_memory", "is_transient"]
