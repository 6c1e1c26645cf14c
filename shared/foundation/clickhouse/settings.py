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
    # A page takes longer to plan than to read. These steps of the planner find nothing to improve
    # in our statements; without them /sessions takes an eighth fewer instructions.
    "optimize_and_compare_chain": 0,
    "query_plan_remove_unused_columns": 0,
    "query_plan_execute_functions_after_sorting": 0,
    "query_plan_push_down_volume_reducing_functions": 0,
    "use_statistics": 0,
}

# Some thousand rows are read in less time than it takes to share them among threads: the counts of
# 51 sessions took 7 ms of CPU instead of 13.
SMALL_PAGE: Mapping[str, object] = {**PAGE, "max_threads": 1}
