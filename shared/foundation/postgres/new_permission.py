"""Gives a new permission to whoever held all earlier ones, in the migration that comes with it.

A caller grants only what it holds. Without this, a key that could grant the set `admin` could not
any more once a release adds a permission to that set.
"""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy import Connection

_FIRST = """
events:add events:read evaluations:read evaluations:trigger
dashboards:read dashboards:write dashboards:delete
queries:read queries:write queries:delete queries:run agent:use
keys:create keys:read keys:disable keys:regenerate
users:create users:read users:update users:delete settings:read settings:write
alerts:read alerts:write incidents:read incidents:write incidents:ack audits:read audits:write
"""
# Those of the first release that count: `keys:update` and `orgs:admin` are not needed to grant the
# set `admin`.
FIRST = frozenset(_FIRST.split())

# These sets are part of the code, the same in every release so far. `admin` gains by itself.
_READ_ONLY = """
events:read keys:read users:read evaluations:read dashboards:read queries:read settings:read
alerts:read audits:read incidents:read
"""
_STANDARD = f"{_READ_ONLY} evaluations:trigger queries:run incidents:ack agent:use"

# Earlier releases called `incidents:ack` so.
_CURRENT = "array_replace({}, 'alerts:ack', 'incidents:ack')"

_MEMBERS = """
UPDATE memberships AS own SET {column} = array_append(own.{column}, '{token}')
FROM memberships AS member
LEFT JOIN (
    SELECT org_id, name, permissions FROM permission_sets
    UNION ALL SELECT id, 'read-only', {read_only} FROM organizations
    UNION ALL SELECT id, 'standard', {standard} FROM organizations
) AS held ON held.org_id = member.org_id AND held.name = member.permission_set
WHERE own.org_id = member.org_id AND own.user_id = member.user_id
    AND NOT '{token}' = ANY(own.permission_added)
    AND NOT '{token}' = ANY(own.permission_removed)
    AND {older} <@ {of_set} IS {set_is_full}
    AND {older} && {removed} IS {is_cut}
    {more}
"""
_HOLDERS = """
UPDATE {table} SET permissions = array_append(permissions, '{token}')
WHERE {older} <@ {permissions} AND NOT '{token}' = ANY(permissions)
"""


def give(connection: Connection, token: str, older: Iterable[str]) -> None:
    """Gives `token` to the keys, sets and members that hold all of `older`, and to no others.

    A member from whom somebody took `token` stays without it.
    """
    held = _array(older)
    of_set = f"coalesce({_CURRENT.format('held.permissions')}, ARRAY[]::text[])"
    added = _CURRENT.format("own.permission_added")
    common = {
        "token": token,
        "older": held,
        "of_set": of_set,
        "removed": _CURRENT.format("own.permission_removed"),
        "read_only": _array(_READ_ONLY.split()),
        "standard": _array(_STANDARD.split()),
    }
    together = (
        f"AND {held} <@ ({of_set} || {added}) AND own.permission_set IS DISTINCT FROM 'admin'"
    )
    gain = {"column": "permission_added", "set_is_full": "FALSE", "is_cut": "FALSE"}
    # Their set gains the permission, and they did not hold all that the set gives.
    stay = {"column": "permission_removed", "set_is_full": "TRUE", "is_cut": "TRUE"}
    permissions = _CURRENT.format("permissions")
    holders = {"token": token, "older": held, "permissions": permissions}
    statements = (
        _MEMBERS.format(**common, **gain, more=together),
        _MEMBERS.format(**common, **stay, more=""),
        _HOLDERS.format(table="permission_sets", **holders),
        _HOLDERS.format(table="api_keys", **holders),
    )
    for statement in statements:
        connection.execute(sa.text(statement.replace(":", r"\:")))


def _array(tokens: Iterable[str]) -> str:
    """Returns the tokens as a literal, because a migration may be printed instead of run."""
    return "ARRAY[" + ", ".join(f"'{one}'" for one in sorted(tokens)) + "]::text[]"
