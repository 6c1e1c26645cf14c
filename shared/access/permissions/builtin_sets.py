"""The permission sets that every organization has; they cannot be changed."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.access.permissions.catalogue import ALL

READ_ONLY_SET = "read-only"
STANDARD_SET = "standard"
# The set of people who administer an organization.
ADMIN_SET = "admin"

_READ_ONLY = frozenset(
    {
        "events:read",
        "keys:read",
        "users:read",
        "evaluations:read",
        "dashboards:read",
        "queries:read",
        "settings:read",
        "alerts:read",
        "audits:read",
        "incidents:read",
    }
)
_STANDARD = _READ_ONLY | {"evaluations:trigger", "queries:run", "incidents:ack", "agent:use"}


@dataclass(frozen=True)
class BuiltinSet:
    """A named grant that is part of the code."""

    name: str
    description: str
    permissions: frozenset[str]


BUILTIN_SETS: Mapping[str, BuiltinSet] = {
    one.name: one
    for one in (
        BuiltinSet(READ_ONLY_SET, "sees everything, changes nothing", _READ_ONLY),
        BuiltinSet(
            STANDARD_SET,
            "works with the data: runs queries, evaluates again, handles incidents",
            _STANDARD,
        ),
        BuiltinSet(ADMIN_SET, "administers the organization", ALL - {"orgs:admin"}),
    )
}
