"""What was ever created in an organization, for the counters that outlive it."""

from shared.organizations.creations.service import Kind, created_in, record

__all__ = ["Kind", "created_in", "record"]
