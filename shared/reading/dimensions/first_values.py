"""The first values of a session, merged by ClickHouse and told apart here.

The same expressions in SQL (`shared.reading.dimensions.conditions`) take longer to plan than a page
of sessions takes to read.
"""

from collections.abc import Mapping

from shared.foundation.clickhouse.where import us
from shared.reading.dimensions.conditions import FIRST_VALUES
from shared.reading.dimensions.names import PREFIX

# The place of an event, as (time in microseconds, arrival, id), and its value.
FirstValues = Mapping[str, tuple[int, int, int, str]]
# Of a group of rows of `agent_sessions`: by the name of a dimension; those of versions have the
# agent behind it.
SELECTED = f"mapApply((k, v) -> (k, ({us('v.1')}, v.2, v.3, v.4)), {FIRST_VALUES})"
_VERSION = "agent_version "


def user_of(firsts: FirstValues) -> str | None:
    """Returns the user of the first event that has one."""
    return firsts["user_id"][3] if "user_id" in firsts else None


def version_of(firsts: FirstValues, root: str) -> str | None:
    """Returns the version of the root agent's first event that has one, else of any first."""
    own = firsts.get(_VERSION + root)
    return own[3] if own else min(_versions(firsts), default=(0, 0, 0, None))[3]


def only_version_of(firsts: FirstValues) -> tuple[bool, str | None]:
    """Returns whether the version is clear without the root agent, and the version."""
    found = {one[3] for one in _versions(firsts)}
    return len(found) < 2, next(iter(found), None)


def has_attributes(firsts: FirstValues) -> bool:
    """Returns whether any event has an attribute."""
    return any(name.startswith(PREFIX) for name in firsts)


def _versions(firsts: FirstValues) -> list[tuple[int, int, int, str]]:
    return [value for name, value in firsts.items() if name.startswith(_VERSION)]
