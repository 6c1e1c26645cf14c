r"""Full-text search inside raw JSON, as one RE2 pattern over the stored payload.

The payload is stored as it was sent, so the same text may be escaped there (`\u00e9`, `\/`) or
plain. The pattern allows both for each character of the needle. It reads the payload string by
string from its start, so that it finds a needle only in keys and values, never in the punctuation
between them, and never in the middle of an escape.

People's SQL gets another condition for the same search (`search_sql`), because such a pattern has
twenty characters for each character of the needle.
"""

import re
from collections.abc import Sequence

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.where import Where

MAX_SEARCH_CHARS = 256

_SHORT_ESCAPES = {
    '"': r"\\\"",
    "\\": r"\\\\",
    "/": r"\\/",
    "\b": r"\\b",
    "\f": r"\\f",
    "\n": r"\\n",
    "\r": r"\\r",
    "\t": r"\\t",
}
# Plain text that may occur outside strings: numbers, true, false, null.
_SCALAR_CHARS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-")
# These cannot occur in a JSON string unescaped.
_ALWAYS_ESCAPED = frozenset('"\\') | {chr(code) for code in range(0x20)}

# A text that JSON writes as it is, unless it writes characters by their numbers.
_PLAIN = re.compile(r'[^"\\/\x00-\x1f\x7f-\x9f]*')
# More of them would take too much of a statement to repeat them.
_MAX_HINTED = 1000
_STRING = r'"(?:[^"\\]|\\.)*"'
_MEMBERS = "JSONExtractKeysAndValuesRaw(payload)"

_STRING_PART = r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])'
_BEFORE = rf'^(?:[^"]|"{_STRING_PART}*")*?'


def add_search(where: Where, needles: list[str], excluded_keys: list[str]) -> None:
    """Adds "any of the needles occurs"; leaves out values of top-level `excluded_keys`."""
    if not needles:
        return
    text = "payload"
    if excluded_keys:
        where.params["excluded_keys"] = excluded_keys
        # A payload that ClickHouse cannot parse is searched whole.
        members = "JSONExtractKeysAndValuesRaw(payload)"
        kept = "arrayFilter(m -> NOT has({excluded_keys:Array(String)}, m.1), members)"
        text = (
            f"if(empty({members} AS members), payload, arrayStringConcat("
            f"arrayMap(m -> concat(toJSONString(m.1), ':', m.2), {kept}), ','))"
        )
    conditions = []
    for index, needle in enumerate(needles):
        where.params[f"search_{index}"] = pattern_of(needle)
        conditions.append(f"match({text}, {{search_{index}:String}})")
    where.add(" OR ".join(conditions))


def pattern_of(needle: str) -> str:
    """Returns the RE2 pattern that finds `needle` in strings and scalars, in any case."""
    inside = "".join(map(_spellings, needle))
    found = f'"{_STRING_PART}*?{inside}'
    if _SCALAR_CHARS.issuperset(needle):
        found = f"(?:{_literal(needle)}|{found})"
    return f"(?si){_BEFORE}{found}"


def _spellings(char: str) -> str:
    """Returns every way to write a character inside a JSON string, in either case."""
    ways = [] if char in _ALWAYS_ESCAPED else [_literal(char)]
    if char in _SHORT_ESCAPES:
        ways.append(_SHORT_ESCAPES[char])
    cases = {char, *(other for other in (char.lower(), char.upper()) if len(other) == 1)}
    ways += sorted(_unicode_escape(case) for case in cases)
    return f"(?:{'|'.join(ways)})"


def _unicode_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(
        rf"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2)
    )


def _literal(text: str) -> str:
    # RE2 accepts a backslash before any ASCII punctuation; re.escape would also escape spaces.
    return "".join(
        rf"\{char}" if char.isascii() and not char.isalnum() and char != " " else char
        for char in text
    )


def search_sql(needles: Sequence[str], excluded_keys: Sequence[str]) -> list[str]:
    """Returns the conditions of `add_search` with literals, over the view `events`.

    Strings are compared as they read, not as JSON escapes them.
    """
    json = "payload"
    if excluded_keys:
        kept = f"arrayFilter(m -> NOT ({literals.is_one_of('m.1', excluded_keys)}), {_MEMBERS})"
        json = (
            f"if(empty({_MEMBERS}), payload, arrayStringConcat("
            f"arrayMap(m -> concat(toJSONString(m.1), ':', m.2), {kept}), ','))"
        )
    strings = f"arrayMap(s -> JSONExtractString(s), extractAll({json}, {literals.text(_STRING)}))"
    ways = [f"arrayExists(s -> {_holds('s', needles)}, {strings})"]
    if scalars := [needle for needle in needles if _SCALAR_CHARS.issuperset(needle)]:
        outside = f"replaceRegexpAll({json}, {literals.text(_STRING)}, '\"\"')"
        ways.append(_holds(outside, scalars))
    found = [" OR ".join(ways)]
    # Few payloads hold a text at all, and only those have to be read string by string.
    is_short = sum(map(len, needles)) <= _MAX_HINTED
    if is_short and all(map(_PLAIN.fullmatch, needles)):
        found.insert(0, f"{_holds('payload', needles)} OR position(payload, '\\\\u') > 0")
    return [f"({text})" for text in found]


def _holds(text: str, needles: Sequence[str]) -> str:
    if len(needles) == 1:
        return f"positionCaseInsensitiveUTF8({text}, {literals.text(needles[0])}) > 0"
    listed = ", ".join(map(literals.text, needles))
    return f"arrayExists(n -> positionCaseInsensitiveUTF8({text}, n) > 0, [{listed}])"
