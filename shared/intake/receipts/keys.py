"""The keys of receipts in Redis. Each has the organization's id, so that a purge removes it."""

from typing import NamedTuple

# The organizations that may have receipts in Redis.
ACTIVE = "receipts:active"


class Keys(NamedTuple):
    """The keys of one organization.

    `log`: receipts as they came; `rows`: what they were folded into; `flushing`: rows on their way
    into PostgreSQL; `skipped`: bad lines and records.
    """

    base: str
    log: str
    rows: str
    flushing: str
    skipped: str


def keys_of(org_id: str) -> Keys:
    """Returns the keys of an organization."""
    base = f"receipts:{org_id}"
    return Keys(base, f"{base}:log", f"{base}:rows", f"{base}:flushing", f"{base}:skipped")
