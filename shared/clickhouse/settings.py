"""Settings of ClickHouse statements that several resources share."""

from collections.abc import Mapping

# A client waits while a page is read. Copies of a row share its partition, because keys contain the
# timestamp, so FINAL need not merge across partitions.
PAGE: Mapping[str, object] = {
    "max_execution_time": 20,
    "do_not_merge_across_partitions_select_final": 1,
    # Copies agree in every column that has a skip index, so an index keeps either all of them or
    # none.
    "use_skip_indexes_if_final_exact_mode": 0,
}

# Some thousand rows are read in less time than it takes to share them among threads: the counts of
# 51 sessions took 7 ms of CPU instead of 13.
SMALL_PAGE: Mapping[str, object] = {**PAGE, "max_threads": 1}
