"""People: accounts, and their permissions in each of their organizations."""

from shared.users.grants import Grant, Granter, default_set
from shared.users.members import (
    Member,
    counted,
    effective_permissions,
    members_of,
    memberships_of,
)
from shared.users.models import Membership, User
from shared.users.records import MemberRecord
from shared.users.service import (
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
from shared.users.sets import SetHolders, active_by_set

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
