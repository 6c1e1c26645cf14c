"""PostgreSQL: the configuration, and the authoritative state of everything that is processed."""

from shared.foundation.postgres.base import Base, created_at_column, same_org, timestamp_type
from shared.foundation.postgres.database import (
    Postgres,
    after_commit,
    present_time,
    transaction_time,
)
from shared.foundation.postgres.locks import lock_until_commit, single_flight

__all__ = [
    "Base",
    "Postgres",
    "after_commit",
    "created_at_column",
    "lock_until_commit",
    "present_time",
    "same_org",
    "single_flight",
    "timestamp_type",
    "transaction_time",
]
