"""Every permission token there is, as one table (docs/permissions.md)."""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.core.errors import Forbidden, Invalid


@dataclass(frozen=True)
class Permission:
    """A token; `for_keys` is false where only people may hold it."""

    token: str
    description: str
    for_keys: bool = True


CATALOGUE: tuple[Permission, ...] = (
    Permission("events:add", "send events"),
    Permission("events:read", "read events and export sessions"),
    Permission("evaluations:read", "read sessions and evaluations"),
    Permission("evaluations:trigger", "evaluate a session again"),
    Permission("dashboards:read", "read dashboards"),
    Permission("dashboards:write", "create and change dashboards"),
    Permission("dashboards:delete", "delete dashboards"),
    Permission("queries:read", "read saved queries and the schema"),
    Permission("queries:write", "create and change saved queries"),
    Permission("queries:delete", "delete saved queries"),
    Permission("queries:run", "run SQL on the organization's data"),
    Permission("agent:use", "use the assistant"),
    Permission("keys:create", "create API keys"),
    Permission("keys:read", "list API keys"),
    Permission("keys:update", "change what an API key may do", for_keys=False),
    Permission("keys:disable", "disable API keys"),
    Permission("keys:regenerate", "give API keys a new secret"),
    Permission("users:create", "invite members"),
    Permission("users:read", "read members and permission sets"),
    Permission("users:update", "change what a member may do"),
    Permission("users:delete", "disable and enable members"),
    Permission("settings:read", "read settings and usage"),
    Permission("settings:write", "change settings and permission sets"),
    Permission("alerts:read", "read alert rules"),
    Permission("alerts:write", "create, change and delete alert rules"),
    Permission("incidents:read", "read incidents"),
    Permission("incidents:write", "open incidents"),
    Permission("incidents:ack", "work on incidents"),
    Permission("audits:read", "read audits and findings"),
    Permission("audits:write", "create, run and triage audits"),
    Permission("orgs:admin", "administer the instance", for_keys=False),
)

# What grants stored by earlier versions are read as.
_LEGACY = {"alerts:ack": "incidents:ack"}

ALL = frozenset(permission.token for permission in CATALOGUE)
INSTANCE_ADMIN = "orgs:admin"
# No key can hold it, so a key could make no administrator.
_NOT_RULED = "keys:update"
FOR_KEYS = frozenset(permission.token for permission in CATALOGUE if permission.for_keys)


def readable(stored: Iterable[str]) -> list[str]:
    """What a stored grant means today, each token once, in the stored order.

    Tokens nobody knows any more are left out.
    """
    tokens = dict.fromkeys(_LEGACY.get(token, token) for token in stored)
    return [token for token in tokens if token in ALL]


def effective(stored: Iterable[str]) -> frozenset[str]:
    """`readable` as the set that decides what somebody may do."""
    return frozenset(readable(stored))


def require_for_keys(tokens: Iterable[str]) -> None:
    """Raises `Invalid` naming each token that does not exist or that no key can hold."""
    reasons = [
        f"{token} can only be held by a person"
        if token in ALL
        else f"{token!r} is not a permission"
        for token in tokens
        if token not in FOR_KEYS
    ]
    if reasons:
        raise Invalid("some permissions cannot be granted", fields={"permissions": reasons})


def require_known(tokens: Iterable[str], field: str = "permissions") -> None:
    """Raises `Invalid` naming each token that does not exist; those of before are none any more."""
    reasons = [f"{token!r} is not a permission" for token in tokens if token not in ALL]
    if reasons:
        raise Invalid("some permissions do not exist", fields={field: reasons})


def require_may_grant(
    gained: Iterable[str], granter: frozenset[str], field: str = "permissions"
) -> None:
    """Nobody grants what they do not hold; `gained` is what somebody holds after and not before.

    `keys:update` is left out of the rule. `orgs:admin` is granted by
    `service-orgctl` alone: `Forbidden` for who does not hold it, `Invalid` for who does.
    Raises `Forbidden` naming the first permission, in the order of the catalogue, that is missing.
    """
    wanted = set(gained)
    missing = wanted - granter - {_NOT_RULED}
    for token in (one.token for one in CATALOGUE):
        if token in missing:
            raise Forbidden(
                f"only an identity that holds {token} can grant it", required_permission=token
            )
    if INSTANCE_ADMIN in wanted:
        raise Invalid.field(field, f"{INSTANCE_ADMIN} is granted by service-orgctl only")
