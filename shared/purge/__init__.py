"""Removing an organization from all three stores, for good."""

from shared.purge.service import Purged, purge

__all__ = ["Purged", "purge"]
