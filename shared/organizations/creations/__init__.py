"""A record of everything that was created, for counters that include deleted things."""

from shared.organizations.creations.service import Kind, created_in, record

__all__ = ["Kind", "created_in", "record"]
