"""Permission sets: named grants, built in or of an organization's own."""

from shared.permission_sets.models import PermissionSet
from shared.permission_sets.service import (
    SetRecord,
    change,
    changeable,
    chosen,
    create,
    find,
    get,
    visible,
)

__all__ = [
    "PermissionSet",
    "SetRecord",
    "change",
    "changeable",
    "chosen",
    "create",
    "find",
    "get",
    "visible",
]
