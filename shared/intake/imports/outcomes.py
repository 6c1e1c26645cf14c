"""The outcome of each line of a file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class ImportEvent(NamedTuple):
    """An event that a line made.

    `origin` are the bytes that identify the line, whatever the file is called and where the line
    stands in it: the same origin, session, agent, type and `nth` are the same event. `fields` are
    those of its type, in the order in which they are written, and `dimensions` further ones.
    """

    line: int
    ts_us: int
    session_id: str
    agent_id: str
    type: str
    fields: dict[str, object]
    origin: bytes
    nth: int = 0
    dimensions: Mapping[str, object] = MappingProxyType({})


class BadLine(NamedTuple):
    """A line that cannot be read, and why."""

    line: int
    reason: str


class IgnoredLine(NamedTuple):
    """A line that is no event."""

    line: int


class HeldLines(NamedTuple):
    """So many lines at the end may go on in lines that the file does not have yet."""

    lines: int


Outcome = ImportEvent | BadLine | IgnoredLine | HeldLines


def given(**fields: object) -> dict[str, object]:
    """Returns the fields without those that are None or an empty text."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
