"""Permission sets: named grants, either built in or of one organization."""

from shared.permissions.custom_sets.models import PermissionSet
from shared.permissions.custom_sets.service import (
    SetRecord,
    changeable,
    chosen,
    create,
    delete,
    find,
    get,
    list_,
    replace,
    require_default,
)

__all__ = [
    "PermissionSet",
    "SetRecord",
    "changeable",
    "chosen",
    "create",
    "delete",
    "find",
    "get",
    "list_",
    "replace",
    "require_default",
]
