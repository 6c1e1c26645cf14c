"""Settings of the run's ClickHouse that spare the processor and change no answer."""

from pathlib import Path

# A read of a few rows in many small parts takes half the time of several threads in one. The tests
# store some rows at a time, so by default a quarter of an insert's time goes into merges.
_ONE_THREAD = "<profiles><default><max_threads>1</max_threads></default></profiles>"
_LESS_OFTEN = "<min_parts_to_merge_at_once>20</min_parts_to_merge_at_once>"
_FILES = {"users.d": _ONE_THREAD, "conf.d": f"<merge_tree>{_LESS_OFTEN}</merge_tree>"}


def spare_processor(directory: Path) -> None:
    """Adds the settings to a stack in this directory, before its first start.

    Only for the stack that the tests of a process share. Deployments keep the defaults, so that
    flows and browser tests read as the service does.
    """
    for folder, settings in _FILES.items():
        path = directory / "clickhouse" / folder / "tests.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<clickhouse>{settings}</clickhouse>\n")
