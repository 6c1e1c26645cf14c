"""Settings of ClickHouse statements that several resources share."""

from collections.abc import Mapping

# A page is read while somebody waits for it. Copies of a row share its partition, since keys hold
# the timestamp, so FINAL need not merge across partitions.
PAGE: Mapping[str, object] = {
    "max_execution_time": 20,
    "do_not_merge_across_partitions_select_final": 1,
    # Copies agree in every column that has a skip index: what one of them lets through, all do.
    "use_skip_indexes_if_final_exact_mode": 0,
}
