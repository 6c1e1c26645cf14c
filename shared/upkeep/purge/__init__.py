"""The removal of an organization from all three stores, for good."""

from shared.upkeep.purge.service import Purged, purge

__all__ = ["Purged", "purge"]
