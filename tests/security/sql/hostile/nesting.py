"""Statements that are hard to parse: deep, long, or very ambiguous."""


def _nested(opening: str, closing: str, depth: int, inner: str = "1") -> str:
    return "SELECT " + opening * depth + inner + closing * depth


REFUSED = {
    "brackets": _nested("(", ")", 3900),
    "brackets-open": "SELECT " + "(" * 7000,
    "brackets-at-the-limit": _nested("(", ")", 60),
    "arrays": _nested("[", "]", 60),
    "functions": _nested("abs(", ")", 59),
    "functions-many": _nested("abs(", ")", 1500),
    "tuples": _nested("tuple(", ")", 58),
    "tuples-short": _nested("tuple(", ")", 20),
    "maps": _nested("map(1, ", ")", 58),
    "structs": _nested("STRUCT(", ")", 58),
    "casts": _nested("CAST(", " AS Int8)", 58),
    "cases": "SELECT " + "CASE WHEN 1 THEN " * 450,
    "subqueries": _nested("(SELECT ", ")", 59),
    "types": "SELECT CAST(1 AS " + "Tuple(" * 50 + "Int8" + ")" * 51,
    "nots": "SELECT " + "NOT " * 1900 + "1",
    "minuses": "SELECT " + "- " * 3900 + "1",
    "indexes": "SELECT a" + "[1]" * 2500,
    "joins": "SELECT 1 FROM events" + " JOIN EXTRACT(" * 50 + ")" * 50,
    "join-values": "SELECT 1 FROM events" + " JOIN VALUES" * 400,
    "lambdas": "SELECT " + "(a, b) -> (" * 58 + "1" + ")" * 58,
    "betweens": "SELECT 1" + " BETWEEN 1" * 780,
    "unfinished-and": "SELECT 1" + " AND" * 1900,
    "dots": "SELECT " + "." * 7000,
    "stars": "SELECT " + "*" * 7000,
    "semicolons": "SELECT 1" + ";" * 7000 + "x",
    "withs": "WITH " * 1500,
    "quotes": "SELECT " + "'" * 7001,
    "comments": "SELECT " + "/*" * 3900,
    "comment-ends": "SELECT " + "*/" * 3900,
    "dollars": "SELECT " + "$" * 7900,
    "dollar-tags": "SELECT " + "$a" * 3900,
}

CONTAINED = {
    "commas": "SELECT " + "," * 7000,
    "sum": "SELECT 1" + "+1" * 3800,
    "names": "SELECT a" + ".a" * 3900,
    "columns": "SELECT " + "1," * 3900 + "1",
    "unions": "SELECT 1" + " UNION ALL SELECT 1" * 400,
    "froms": "SELECT * FROM " + "(SELECT * FROM " * 12 + "events" + ")" * 12,
    "ctes": "WITH "
    + ", ".join(f"c{n} AS (SELECT * FROM {f'c{n - 1}' if n else 'events'})" for n in range(60))
    + " SELECT count() FROM c59",
    "cte-doubling": "WITH c0 AS (SELECT 1 AS x), "
    + ", ".join(
        f"c{n} AS (SELECT * FROM c{n - 1} UNION ALL SELECT * FROM c{n - 1})" for n in range(1, 7)
    )
    + " SELECT count() FROM c6",
    "ors": "SELECT count() FROM events WHERE 0" + " OR id = 1" * 700,
    "in-list": "SELECT count() FROM events WHERE id IN (" + "1," * 3900 + "1)",
    "casts-in-a-row": "SELECT 1" + "::Int8" * 1000,
    "ternaries": "SELECT 1" + " ? 1 : 1" * 900,
    "crossed": "SELECT count() FROM events" + ", events" * 3,
    "spaces": "SELECT" + " " * 7900 + "1",
    "lines": "SELECT" + "\n" * 7900 + "1",
    "long-string": "SELECT '" + "x" * 7900 + "'",
    "escapes": "SELECT '" + "\\\\" * 3900 + "'",
    "doubled-quotes": "SELECT '" + "''" * 3900 + "'",
    "long-name": "SELECT 1 AS `" + "x" * 7900 + "`",
}
