"""Permission sets: named grants, either built in or of one organization."""

from shared.permissions.custom_sets.models import PermissionSet
from shared.permissions.custom_sets.service import (
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
