"""The identity of a request: a key or a person, in one organization."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime

from shared.foundation.core.errors import Forbidden


@dataclass(frozen=True)
class KeyRef:
    """The API key that a request came with."""

    id: uuid.UUID
    name: str


@dataclass(frozen=True)
class UserRef:
    """The person that a request acts as."""

    id: uuid.UUID
    email: str


@dataclass(frozen=True)
class Identity:
    """An API key, a person, or a person that an instance key acts for, in one organization.

    `org_id` and `org_slug` name the organization of the request. Keys with `instance_scoped` belong
    to none and choose one per request. At least one of `key` and `user` is set.

    `epoch` is the one under which the identity was read, None while Redis is down. The request can
    cache other data under it without another round trip (`shared.foundation.cache`). `joined`: this
    very request is the person's first one in the organization.
    """

    org_id: str
    org_slug: str
    permissions: frozenset[str]
    key: KeyRef | None
    user: UserRef | None
    instance_scoped: bool
    expires_at: datetime | None
    epoch: bytes | None = field(default=None, compare=False)
    joined: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        """Returns the name to record for a change: a person's address, else the key's name."""
        if self.user is not None:
            return self.user.email
        return "" if self.key is None else self.key.name

    def require_any(self, permissions: tuple[str, ...]) -> None:
        """Raises `Forbidden` naming the missing permission unless one of `permissions` is held."""
        if not self.permissions.isdisjoint(permissions):
            return
        raise Forbidden(
            f"this needs the permission {' or '.join(permissions)}",
            required_permission=permissions[0],
        )

    def require_person(self, permission: str | None) -> UserRef:
        """Returns the person; raises `Forbidden` for a key without an actor."""
        if self.user is None:
            holding = "" if permission is None else f" that holds {permission}"
            raise Forbidden(
                f"only a signed-in user{holding} can do this",
                code="user_required",
                required_permission=permission,
            )
        return self.user
