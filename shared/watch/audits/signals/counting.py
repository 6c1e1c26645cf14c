"""SQL of signals that count events by name: names, the condition for a failure, and lists.

Each expression works on the table `events` and on the view of that name, so a signal and its
evidence query count the same.
"""

from collections.abc import Sequence

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.where import Where
from shared.watch.audits.signals.interface import EvidenceQuery, Look

# A tool's name may be as long as its event. Longer names are recognized by their beginning.
_NAME_CHARS = 200
TOOL = f"leftUTF8(ifNull(CAST(tool_name, 'Nullable(String)'), ''), {_NAME_CHARS})"
ERROR_TYPE = f"leftUTF8(ifNull(CAST(error_type, 'Nullable(String)'), ''), {_NAME_CHARS})"


def names(values: Sequence[str]) -> list[str]:
    """Cuts names in the same way as `TOOL` and `ERROR_TYPE`."""
    return [value[:_NAME_CHARS] for value in values]


_LISTED = 100


def is_failed(look: Look, where: Where) -> str:
    """Returns the SQL condition that an event is a failure that counts.

    Adds parameters to `where`.
    """
    if not look.ignore_error_types:
        return "is_error"
    where.params["ignored"] = list(look.ignore_error_types)
    return "(is_error AND ifNull(error_type, '') NOT IN {ignored:Array(String)})"


def is_failed_literal(look: Look) -> str:
    """Returns the condition of `is_failed` with literals, for an evidence query."""
    if not look.ignore_error_types:
        return "is_error"
    ignored = literals.is_one_of("ifNull(error_type, '')", look.ignore_error_types)
    return f"(is_error AND NOT ({ignored}))"


def listings(condition: str) -> tuple[EvidenceQuery, EvidenceQuery]:
    """Returns the lists of a finding about events: their sessions, and the newest events."""
    return (
        EvidenceQuery(
            "The sessions, newest first",
            "SELECT session_id, count() AS events, min(ts) AS first_at, max(ts) AS last_at"
            f" FROM events WHERE {condition}"
            f" GROUP BY session_id ORDER BY last_at DESC, session_id LIMIT {_LISTED}",
        ),
        EvidenceQuery(
            "The events, newest first",
            "SELECT id, session_id, agent_id, environment, ts, event_type, tool_name"
            f" FROM events WHERE {condition} ORDER BY ts DESC, id LIMIT {_LISTED}",
        ),
    )
