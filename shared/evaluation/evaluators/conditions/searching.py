"""The condition that an event's payload contains a text, as `search` of GET /events finds it."""

import re

from shared.reading.events.search import pattern_of

# Characters that JSON writes as they are or by their numbers. Outside of ASCII there are letters
# that are a `k` or an `s` in another case.
_LITERAL = re.compile(r"[ !#-.0-\[\]-~]{2,}")
_OTHER_CASES = re.compile("[kKsS]")


def contains_sql(name: str, needle: str) -> tuple[str, dict[str, object]]:
    """Returns the condition on an event, and its parameters, whose names begin with `name`.

    A pattern takes ten times as long as a text, so it reads only the payloads in which the longest
    plain part of the needle occurs, and those that write a character by its number.
    """
    condition = f"match(payload, {{{name}:String}})"
    params: dict[str, object] = {name: pattern_of(needle)}
    parts = [part for text in _OTHER_CASES.split(needle) for part in _LITERAL.findall(text)]
    if not parts:
        return condition, params
    params[f"{name}_part"] = max(parts, key=len)
    hint = f"multiSearchAnyCaseInsensitive(payload, [{{{name}_part:String}}, '\\\\u'])"
    return f"{hint} AND {condition}", params
