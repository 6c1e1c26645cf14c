"""Permissions: the tokens, their possible holders, and the meaning of stored grants."""

from shared.access.permissions.builtin_sets import (
    ADMIN_SET,
    BUILTIN_SETS,
    READ_ONLY_SET,
    STANDARD_SET,
    BuiltinSet,
)
from shared.access.permissions.catalogue import (
    ALL,
    CATALOGUE,
    FOR_KEYS,
    INSTANCE_ADMIN,
    effective,
    readable,
    require_for_keys,
    require_known,
    require_may_grant,
)

__all__ = [
    "ADMIN_SET",
    "ALL",
    "BUILTIN_SETS",
    "CATALOGUE",
    "FOR_KEYS",
    "INSTANCE_ADMIN",
    "READ_ONLY_SET",
    "STANDARD_SET",
    "BuiltinSet",
    "effective",
    "readable",
    "require_for_keys",
    "require_known",
    "require_may_grant",
]
