r"""Full-text search inside raw JSON, as one RE2 pattern over the stored payload.

The payload is stored as it was sent, so the same text may be escaped there (`\u00e9`, `\/`) or
plain. The pattern allows both for each character of the needle. It reads the payload string by
string from its start, so that it finds a needle only in keys and values, never in the punctuation
between them, and never in the middle of an escape.
"""

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
