"""Turns msgspec's refusals, which name types of Python, into sentences in the words of JSON."""

import re

import msgspec

MISSING = "is missing"
_TYPES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "datetime": "an RFC 3339 time",
    "null": "null",
}
_REASONS = (
    (r"Expected `(?:str|array|object)` of length >= 1", "must not be empty"),
    (r"Expected `str` of length >= (\d+)", r"must have at least \1 characters"),
    (r"Expected `str` of length <= (\d+)", r"must have at most \1 characters"),
    (r"Expected `(?:array|object)` of length >= (\d+)", r"must have at least \1 elements"),
    (r"Expected `(?:array|object)` of length <= (\d+)", r"must have at most \1 elements"),
    (r"Expected `(?:int|float)` >= (\S+)", r"must be at least \1"),
    (r"Expected `(?:int|float)` <= (\S+)", r"must be at most \1"),
    (r"Expected `str` matching regex .*", "has a wrong form"),
    (r"Expected `datetime` with a timezone component", "has no zone"),
    (r"Invalid RFC3339 encoded datetime", "is not an RFC 3339 time"),
    (r"Invalid enum value (.*)", r"must not be \1"),
)
_MISSING = re.compile(r"Object missing required field `(.+)`")
_TYPE = re.compile(r"Expected `([^`]+)`.*")


def in_json_words(error: msgspec.ValidationError) -> tuple[str, str]:
    """Returns the path of the value that was refused, "" for the whole, and what is wrong with it.

    `("conditions.0.op", "must be a string")`; an element of any key or index is `*`.
    """
    reason, _, where = str(error).partition(" - at `")
    where = where.rstrip("`").removeprefix("key in ").lstrip("$").replace("[...]", ".*")
    path = where.replace("[", ".").replace("]", "").lstrip(".")
    if missing := _MISSING.fullmatch(reason):
        return f"{path}.{missing[1]}".lstrip("."), MISSING
    return path, _in_words(reason)


def _in_words(reason: str) -> str:
    for pattern, words in _REASONS:
        if found := re.fullmatch(pattern, reason):
            return found.expand(words)
    if found := _TYPE.fullmatch(reason):
        names = [_TYPES.get(name, name) for name in found[1].split(" | ")]
        return f"must be {' or '.join(names)}"
    return reason[:1].lower() + reason[1:]
