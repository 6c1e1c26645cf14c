"""People: accounts, and their permissions in each of their organizations."""

from shared.access.users.grants import Grant, Granter, default_set
from shared.access.users.members import (
    Member,
    counted,
    effective_permissions,
    members_of,
    memberships_of,
)
from shared.access.users.models import Membership, User
from shared.access.users.records import MemberRecord
from shared.access.users.service import (
    access_granters,
    disable,
    enable,
    get,
    invite,
    leave,
    list_,
    replace,
    take_up,
)
from shared.access.users.sets import SetHolders, active_by_set

__all__ = [
    "Grant",
    "Granter",
    "Member",
    "MemberRecord",
    "Membership",
    "SetHolders",
    "User",
    "access_granters",
    "active_by_set",
    "counted",
    "default_set",
    "disable",
    "effective_permissions",
    "enable",
    "get",
    "invite",
    "leave",
    "list_",
    "members_of",
    "memberships_of",
    "replace",
    "take_up",
]
