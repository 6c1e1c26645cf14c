"""ClickHouse: the events of agents and the results of evaluations."""

from shared.foundation.clickhouse.client import (
    ClickHouse,
    OverMemory,
    Row,
    is_over_own_memory,
    is_transient,
)

__all__ = ["ClickHouse", "OverMemory", "Row", "is_over_own_memory", "is_transient"]
