"""Puts lists together that are spread over attributes: `llm.input_messages.0.message.role`."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from shared.intake.otlp.mapping.tables import FIELDS

# OpenInference puts each item into an object of its own; the item itself is enough.
_WRAPPERS = frozenset({"message", "message_content", "tool_call", "tool"})
# More segments, or a longer name, are no list of any sender.
_MAX_SEGMENTS = 12
_MAX_NAME = 200

Path = tuple[str | int, ...]
# A part of a list that is being put together; positions are integers.
Node = dict[str | int, Any]

FAMILIES = {
    source.removesuffix(".N"): field
    for field, sources in FIELDS.items()
    for source in sources
    if source.endswith(".N")
}
_NAME = re.compile(rf"({'|'.join(map(re.escape, FAMILIES))})\.([0-9]{{1,9}}(?:\..+)?)")


def path_of(name: str) -> tuple[str, Path] | None:
    """Returns the list that an attribute is a part of, and its path there; None if it is none."""
    return _path_of(name) if len(name) <= _MAX_NAME else None


@lru_cache(maxsize=8192)
def _path_of(name: str) -> tuple[str, Path] | None:
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    segments = match[2].split(".")
    if len(segments) > _MAX_SEGMENTS:
        return None
    return match[1], tuple(
        int(segment) if segment.isascii() and segment.isdecimal() else segment
        for before, segment in pairwise(["", *segments])
        if not (before.isdecimal() and segment in _WRAPPERS)
    )


def add(tree: Node, path: Path, value: Any) -> None:
    """Adds a value at its path."""
    for segment in path[:-1]:
        below = tree.get(segment)
        if type(below) is not dict:
            below = tree[segment] = {}
        tree = below
    tree[path[-1]] = value


def listed(tree: Node) -> Any:
    """Returns a tree with lists instead of numbered members; positions may have gaps."""
    for key, value in tree.items():
        if type(value) is dict and value:
            tree[key] = listed(value)
    if type(next(iter(tree))) is str:
        return tree
    try:
        return [tree[key] for key in sorted(tree)]
    except TypeError:
        return {str(key): value for key, value in tree.items()}
