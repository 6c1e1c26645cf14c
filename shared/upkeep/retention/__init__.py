"""Removes what an organization does not want to keep any longer."""

from shared.upkeep.retention.service import apply

__all__ = ["apply"]
