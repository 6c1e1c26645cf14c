"""Which of the engine's functions people may call."""

from shared.queries.refusals import refused_function
from shared.runtime import Runtime

# Functions of these kinds tell of the server, reach out of it, or show what is inside; those that
# do not are named here. A new one fails the test below until somebody has looked at it.
SUSPECT_KINDS = ("Introspection", "AI", "Dictionary", "Embedded Dictionary", "Machine Learning")
HARMLESS = [
    "bar",
    "byteSize",
    "colorOKLABToSRGB",
    "colorOKLCHToSRGB",
    "colorSRGBToOKLAB",
    "colorSRGBToOKLCH",
    "countDigits",
    "defaultValueOfArgumentType",
    "defaultValueOfTypeName",
    "digits",
    "finalizeAggregation",
    "flipCoordinates",
    "formatQuery",
    "formatQueryFromJSON",
    "formatQueryOrNull",
    "formatQuerySingleLine",
    "formatQuerySingleLineOrNull",
    "formatReadableDecimalSize",
    "formatReadableQuantity",
    "formatReadableSize",
    "formatReadableTimeDelta",
    "generateSerialID",
    "getSizeOfEnumType",
    "getSubcolumn",
    "highlightQuery",
    "icebergBucket",
    "icebergTruncate",
    "identity",
    "ignore",
    "initializeAggregation",
    "isConstant",
    "isDecimalOverflow",
    "MACNumToString",
    "MACStringToNum",
    "materialize",
    "minSampleSizeContinuous",
    "minSampleSizeConversion",
    "neighbor",
    "normalizeQuery",
    "normalizeQueryKeepNames",
    "normalizedQueryHash",
    "normalizedQueryHashKeepNames",
    "obfuscateQuery",
    "obfuscateQueryWithSeed",
    "parseISO8601Duration",
    "parseQueryToJSON",
    "parseReadableSize",
    "parseReadableSizeOrNull",
    "parseReadableSizeOrZero",
    "parseTimeDelta",
    "rowNumberInAllBlocks",
    "rowNumberInBlock",
    "runningAccumulate",
    "runningDifference",
    "runningDifferenceStartingWithFirstValue",
    "throwIf",
    "toColumnTypeName",
    "toTypeName",
    "tokenizeQuery",
    "transform",
    "variantElement",
    "variantType",
    "visibleWidth",
]


def test_every_suspect_function_of_the_engine_was_judged(runtime: Runtime) -> None:
    rows = runtime.clickhouse.rows(
        "SELECT name FROM system.functions WHERE NOT is_aggregate AND alias_to = ''"
        " AND (categories IN {kinds:Array(String)} OR categories = 'Other')",
        {"kinds": list(SUSPECT_KINDS)},
    )
    names = {name for (name,) in rows}
    assert len(names) > 150
    assert {name for name in names if refused_function(name) is None} - {*HARMLESS} == set()


def test_another_name_of_a_function_is_judged_alike(runtime: Runtime) -> None:
    rows = runtime.clickhouse.rows(
        "SELECT name, alias_to FROM system.functions WHERE alias_to != ''"
    )
    assert rows
    for name, original in rows:
        assert refused_function(name) == refused_function(original), name


def test_no_ordinary_function_is_refused_by_accident(runtime: Runtime) -> None:
    """Whole kinds of functions that analysts live on: none of them looks like a refused one."""
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
        *("arrayLevenshteinDistance", "arrayLevenshteinDistanceWeighted"),
    }
