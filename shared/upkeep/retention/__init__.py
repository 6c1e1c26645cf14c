"""The removal of data that an organization no longer wants to keep."""

from shared.upkeep.retention.service import apply

__all__ = ["apply"]
