"""The table of all permission tokens (docs/use/people.md)."""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.foundation.core.errors import Forbidden, Invalid


@dataclass(frozen=True)
class Permission:
    """A token; `for_keys` is false if only people may hold it."""

    token: str
    description: str
    for_keys: bool = True


CATALOGUE: tuple[Permission, ...] = (
    Permission("events:add", "send events"),
    Permission("events:read", "read events and export sessions"),
    Permission("events:delete", "delete sessions and what names a person"),
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
    Permission("keys:update", "change the permissions of API keys", for_keys=False),
    Permission("keys:disable", "disable API keys"),
    Permission("keys:regenerate", "give API keys a new secret"),
    Permission("users:create", "invite members"),
    Permission("users:read", "read members and permission sets"),
    Permission("users:update", "change the permissions of members"),
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

# The current meaning of tokens that earlier versions stored.
_LEGACY = {"alerts:ack": "incidents:ack"}

ALL = frozenset(permission.token for permission in CATALOGUE)
INSTANCE_ADMIN = "orgs:admin"
# No key can hold it, so the rule would keep keys from creating administrators.
_NOT_RULED = "keys:update"
FOR_KEYS = frozenset(permission.token for permission in CATALOGUE if permission.for_keys)


def readable(stored: Iterable[str]) -> list[str]:
    """Translates a stored grant to current tokens, each once, in the stored order.

    Leaves out tokens that no longer exist.
    """
    tokens = dict.fromkeys(_LEGACY.get(token, token) for token in stored)
    return [token for token in tokens if token in ALL]


def effective(stored: Iterable[str]) -> frozenset[str]:
    """Returns `readable` as the set that decides about access."""
    return frozenset(readable(stored))


def require_for_keys(tokens: Iterable[str]) -> None:
    """Raises `Invalid` naming each token that does not exist or that no key can hold."""
    reasons = [
        f"{token} can only be granted to a person"
        if token in ALL
        else f"{token!r} is not a permission"
        for token in tokens
        if token not in FOR_KEYS
    ]
    if reasons:
        raise Invalid("some permissions cannot be granted", fields={"permissions": reasons})


def require_known(tokens: Iterable[str], field: str = "permissions") -> None:
    """Raises `Invalid` naming each unknown token; tokens of earlier versions are unknown."""
    reasons = [f"{token!r} is not a permission" for token in tokens if token not in ALL]
    if reasons:
        raise Invalid("some permissions do not exist", fields={field: reasons})


def require_may_grant(
    gained: Iterable[str], granter: frozenset[str], field: str = "permissions"
) -> None:
    """Raises unless the granter holds every permission that the change adds (`gained`).

    The rule does not apply to `keys:update`. Only `service-orgctl` grants `orgs:admin`: the error
    is `Forbidden` for a granter without it and `Invalid` for one with it. Raises `Forbidden` naming
    the first missing permission, in the order of the catalogue.
    """
    wanted = set(gained)
    missing = wanted - granter - {_NOT_RULED}
    for token in (one.token for one in CATALOGUE):
        if token in missing:
            raise Forbidden(f"you can grant {token} only if you hold it", required_permission=token)
    if INSTANCE_ADMIN in wanted:
        raise Invalid.field(field, f"{INSTANCE_ADMIN} can only be granted with service-orgctl")
