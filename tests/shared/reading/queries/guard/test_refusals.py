"""The engine's functions that people may call; `tests/security/sql/functions.txt` lists all."""

from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.guard.refusals import refused_function


def test_another_name_of_a_function_is_judged_alike(runtime: Runtime) -> None:
    rows = runtime.clickhouse.rows(
        "SELECT name, alias_to FROM system.functions WHERE alias_to != ''"
    )
    assert rows
    for name, original in rows:
        assert refused_function(name) == refused_function(original), name


def test_no_ordinary_function_is_refused_by_accident(runtime: Runtime) -> None:
    """Analysts depend on whole kinds of functions. None of them resembles a refused one."""
    kinds = [
        "String",
        "Arrays",
        "Dates and Times",
        "JSON",
        "Map",
        "Tuple",
        "Type Conversion",
        "Null",
    ]
    rows = runtime.clickhouse.rows(
        "SELECT name FROM system.functions"
        " WHERE is_aggregate OR categories IN {kinds:Array(String)}",
        {"kinds": kinds},
    )
    refused = {name for (name,) in rows if refused_function(name) is not None}
    assert refused == {
        *("chdb", "serverTimezone", "editDistance", "editDistanceUTF8", "arraySimilarity"),
        *("damerauLevenshteinDistance", "jaroSimilarity", "jaroWinklerSimilarity"),
        *("arrayLevenshteinDistance", "arrayLevenshteinDistanceWeighted", "flameGraph"),
    }
