"""Bounds of the statements that pair events."""

from shared.clickhouse.settings import PAGE

# Beyond a quarter of a gigabyte they go on on disk.
_SPILL_BYTES = 256 * 1024 * 1024

LATENCY = {
    **PAGE,
    "max_bytes_before_external_group_by": _SPILL_BYTES,
    "max_bytes_before_external_sort": _SPILL_BYTES,
}
