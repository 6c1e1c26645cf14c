"""The first values of a session, which ClickHouse or `of_rows` merges, told apart here.

The same expressions in SQL (`shared.reading.dimensions.conditions`) take longer to plan than a page
of sessions takes to read.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from shared.reading.dimensions.conditions import FIRST_VALUES
from shared.reading.dimensions.names import PREFIX

# The place of an event, as (time, arrival, id), and its value.
FirstValue = tuple[datetime, int, int, str]
FirstValues = Mapping[str, FirstValue]
# Of a group of rows of `agent_sessions`: by the name of a dimension; those of versions have the
# agent behind it.
SELECTED = FIRST_VALUES
_VERSION = "agent_version "


def of_rows(rows: Iterable[tuple[str, FirstValues]]) -> dict[str, FirstValues]:
    """Returns the first values of sessions from rows of `agent_sessions`, by session id."""
    found: dict[str, dict[str, FirstValue]] = {}
    for session_id, values in rows:
        firsts = found.setdefault(session_id, {})
        for name, value in values.items():
            firsts[name] = min(value, firsts.get(name, value))
    return {**found}


def user_of(firsts: FirstValues) -> str | None:
    """Returns the user of the first event that has one."""
    return firsts["user_id"][3] if "user_id" in firsts else None


def version_of(firsts: FirstValues, root: str) -> str | None:
    """Returns the version of the root agent's first event that has one, else of any first."""
    own = firsts.get(_VERSION + root)
    if own is not None:
        return own[3]
    versions = _versions(firsts)
    return min(versions)[3] if versions else None


def only_version_of(firsts: FirstValues) -> tuple[bool, str | None]:
    """Returns whether the version is clear without the root agent, and the version."""
    found = {one[3] for one in _versions(firsts)}
    return len(found) < 2, next(iter(found), None)


def has_attributes(firsts: FirstValues) -> bool:
    """Returns whether any event has an attribute."""
    return any(name.startswith(PREFIX) for name in firsts)


def _versions(firsts: FirstValues) -> list[FirstValue]:
    return [value for name, value in firsts.items() if name.startswith(_VERSION)]
