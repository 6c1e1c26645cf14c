"""ClickHouse: what agents did, and what came of it."""

from shared.clickhouse.client import ClickHouse, Row, is_transient

__all__ = ["ClickHouse", "Row", "is_transient"]
