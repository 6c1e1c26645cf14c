"""The columns of ClickHouse's `events`, defined once for the insert and for every read."""

from shared.events.fields import PROMOTED
from shared.events.fields import Promoted as Promoted

TABLE = "events"

# What a batch brings along, in the order of `Batch`'s own columns.
ENVELOPE = (
    "id",
    "ts",
    "arrival",
    "session_id",
    "agent_id",
    "event_type",
    "environment",
    "payload",
)
DERIVED = ("summary", "is_error", "context_window", "context_fill")
INSERTED = ("org_id", *ENVELOPE, *DERIVED, *PROMOTED)

# The order of events wherever they are listed: time, then arrival, then place in the batch.
ORDER = ("ts", "arrival", "id")
