"""Bounds of the statements that pair events."""

from shared.foundation.clickhouse.settings import PAGE

# 100,000 events took 100 to 200 MB. Above this size, steps that can use the disk do so.
_SPILL_BYTES = 256 * 1024 * 1024
_MAX_BYTES = 2 * 1024 * 1024 * 1024

LATENCY = {
    **PAGE,
    "max_memory_usage": _MAX_BYTES,
    "max_bytes_before_external_group_by": _SPILL_BYTES,
    "max_bytes_before_external_sort": _SPILL_BYTES,
}
