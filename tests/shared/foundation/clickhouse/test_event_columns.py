"""The registry of the columns of `events`, compared with the migrated table."""

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, ORDER, TABLE
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules


def test_the_registry_has_the_columns_of_the_live_table(runtime: Runtime) -> None:
    live = runtime.clickhouse.rows(
        "SELECT name, type FROM system.columns"
        " WHERE database = currentDatabase() AND table = {table:String} AND default_kind = ''",
        {"table": TABLE},
    )
    assert sorted(live) == sorted((column.name, column.type) for column in EVENT_COLUMNS)


def test_every_column_is_inserted() -> None:
    batch = Batch([1], [2], [3], ["session"], ["agent"], ["type"], ["environment"], [b"{}"])
    inserted = columns_of("org", batch, IngestRules(lambda _model: None))
    assert inserted.keys() == {column.name for column in EVENT_COLUMNS}


def test_events_are_ordered_by_columns() -> None:
    assert set(ORDER) <= {column.name for column in EVENT_COLUMNS}
