"""Analysts' questions: every statement works as it stands, despite the guard.

There is one file per topic. A line `--- name` precedes each statement.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

# The values of a statement's $1, $2, …
PARAMS: Mapping[str, Sequence[object]] = {
    "param-text": ["session-01"],
    "param-time": ["2026-11-03T00:00:00.000000Z"],
    "param-time-offset": ["2026-11-03T02:00:00+02:00"],
    "param-times": ["2026-11-02T00:00:00Z", "2026-11-04T00:00:00.5Z"],
    "param-date": ["2026-11-03"],
    "param-limit": [3],
    "param-limit-offset": [3, 2],
    "param-limit-by": [1],
    "param-list": [["production", "staging"]],
    "param-list-of-numbers": [[1, 2, 3]],
    "param-list-empty": [[]],
    "param-list-with-null": [["book", None]],
    "param-list-of-nulls": [[None]],
    "param-has": [["book", "refund"]],
    "param-null": [None],
    "param-not-null": ["production"],
    "param-null-number": [None],
    "param-bool": [True],
    "param-float": [0.5],
    "param-int-as-float": [1],
    "param-big": [2**64 - 1],
    "param-quote": ["say 'sorry'"],
    "param-backslash": ["e\\mail"],
    "param-twice": ["book"],
    "param-like": ["%flight%"],
    "param-in-json": ["plan"],
    "param-map-key": ["helpful"],
    "param-interval": [3],
    "param-in-subquery": ["pro"],
    "param-between": [100, 2000],
    "param-array-element": [["a", "b"]],
    "param-if": [0.75],
    "param-coalesce": [None],
    "param-mixed-numbers": [[1, 2.5]],
    "param-cast": ["12"],
}


def _read() -> dict[str, str]:
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.sql")):
        for part in path.read_text().split("--- ")[1:]:
            name, _, statement = part.partition("\n")
            found[name] = statement.strip()
    return found


QUESTIONS: Mapping[str, str] = _read()
