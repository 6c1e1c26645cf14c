"""Permissions: the tokens, who can hold them, and what a stored grant means."""

from shared.permissions.catalogue import (
    ADMIN_SET,
    ALL,
    CATALOGUE,
    FOR_KEYS,
    effective,
    require_for_keys,
)

__all__ = ["ADMIN_SET", "ALL", "CATALOGUE", "FOR_KEYS", "effective", "require_for_keys"]
