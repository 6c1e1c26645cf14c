"""People: accounts, and what they may do in each of their organizations."""

from shared.users.members import Member, effective_permissions, members_of, memberships_of
from shared.users.models import Membership, User

__all__ = [
    "Member",
    "Membership",
    "User",
    "effective_permissions",
    "members_of",
    "memberships_of",
]
