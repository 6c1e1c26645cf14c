"""Random texts that match a regular expression."""

import random
from importlib import import_module
from typing import Any

# The parser of `re` has no public name.
_PARSER: Any = import_module("re._parser")
_IN_ANY_CASE = 2
_MOST_MORE = 3
_CHARS = [chr(code) for code in range(32, 127)]
_CATEGORIES = {
    "CATEGORY_SPACE": list(" \t\n\r\f"),
    "CATEGORY_WORD": [char for char in _CHARS if char.isalnum() or char == "_"],
}
# RE2 also accepts these for `s` and `k` where case does not matter.
_FOLDED = {"s": "\N{LATIN SMALL LETTER LONG S}", "k": "\N{KELVIN SIGN}"}


def matching(rng: random.Random, regex: str) -> str:
    """Returns a text that RE2 matches as a whole, where a word may begin and end.

    Supports literals, classes, groups, flags of case, alternatives and repetition.
    """
    parsed = _PARSER.parse(regex)
    return _sequence(rng, parsed, bool(parsed.state.flags & _IN_ANY_CASE))


def _sequence(rng: random.Random, items: Any, any_case: bool) -> str:
    return "".join(_item(rng, str(op), value, any_case) for op, value in items)


def _item(rng: random.Random, op: str, value: Any, any_case: bool) -> str:
    match op:
        case "AT":
            return ""
        case "LITERAL":
            return _cased(rng, chr(value), any_case)
        case "IN":
            return _cased(rng, rng.choice(_members(value)), any_case)
        case "BRANCH":
            return _sequence(rng, rng.choice(value[1]), any_case)
        case "SUBPATTERN":
            _, added, removed, items = value
            inner = bool(added & _IN_ANY_CASE) or (any_case and not removed & _IN_ANY_CASE)
            return _sequence(rng, items, inner)
        case "MAX_REPEAT":
            least, most, items = value
            times = rng.randint(least, min(most, least + _MOST_MORE))
            return "".join(_sequence(rng, items, any_case) for _ in range(times))
    raise NotImplementedError(op)


def _members(parts: Any) -> list[str]:
    members: list[str] = []
    is_negated = False
    for op, value in parts:
        match str(op):
            case "NEGATE":
                is_negated = True
            case "LITERAL":
                members.append(chr(value))
            case "RANGE":
                members += map(chr, range(value[0], value[1] + 1))
            case "CATEGORY":
                members += _CATEGORIES[str(value)]
            case other:
                raise NotImplementedError(other)
    return [char for char in _CHARS if char not in members] if is_negated else members


def _cased(rng: random.Random, char: str, any_case: bool) -> str:
    if not any_case:
        return char
    also = _FOLDED.get(char.lower())
    return rng.choice([char.lower(), char.upper(), *([also] if also else [])])
