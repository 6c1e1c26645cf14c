"""Events that are written again: how their copies differ, and how a read sees only the newest one.

A stored event is changed by the insert of a whole copy with a higher `version`. Its key and its
arrival stay, and so do all columns but `REWRITTEN`. Until ClickHouse merges the copies, a row may
have old values in these. ClickHouse applies PREWHERE before it drops such a row, so a condition on
them belongs into WHERE.
"""

import re

from shared.foundation.clickhouse.event_columns import COST_NAMES, DIMENSION_NAMES, USAGE_NAMES
from shared.foundation.clickhouse.where import Where

REWRITTEN = frozenset({*USAGE_NAMES, *COST_NAMES, *DIMENSION_NAMES})
# The version of an event as it arrived is the inverted arrival, whose upper 43 bits are
# milliseconds: since November 2004 it is below this. So a copy that comes late always loses.
FIRST_VERSION = 2**64 - 2**61
# The version of a copy of a row with the column `version`.
NEXT_VERSION = f"least(greatest(version, {FIRST_VERSION - 1}), {2**64 - 2}) + 1"
# Whether a row was written again.
IS_REWRITTEN = f"version >= {FIRST_VERSION}"

# In quotes it is the key of a session's values, which no copy changes.
_NAMES_ONE = re.compile(rf"(?<!')\b(?:{'|'.join(sorted(REWRITTEN))})\b(?!')")


def may_change(sql: str) -> bool:
    """Returns whether copies of one event may have different values of this SQL."""
    return _NAMES_ONE.search(sql) is not None


def merged(where: Where, *more: str) -> str:
    """Returns `FINAL PREWHERE … WHERE …` for the events that meet all conditions.

    `more` are conditions on merged rows, such as those on `arrival`.
    """
    early = [one for one in where.conditions if not may_change(one)]
    late = [one for one in where.conditions if may_change(one)]
    found = f"FINAL PREWHERE {' AND '.join(early)}"
    return " WHERE ".join((found, " AND ".join((*late, *more)))) if late or more else found
