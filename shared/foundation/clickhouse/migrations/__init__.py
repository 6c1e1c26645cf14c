"""The ordered list of ClickHouse migrations; a new one is appended here and never edited later."""

from types import ModuleType

from shared.foundation.clickhouse.migrations import (
    m0001_events,
    m0002_evaluations,
    m0003_read_model,
    m0004_small_parts,
    m0005_facets,
    m0006_dimensions,
    m0007_costs,
    m0008_versions,
    m0009_lean_feed,
    m0010_seen_values,
    m0011_own_evaluations,
)

MIGRATIONS: tuple[ModuleType, ...] = (
    m0001_events,
    m0002_evaluations,
    m0003_read_model,
    m0004_small_parts,
    m0005_facets,
    m0006_dimensions,
    m0007_costs,
    m0008_versions,
    m0009_lean_feed,
    m0010_seen_values,
    m0011_own_evaluations,
)
