"""Who a request acts as, and for which organization."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime

from shared.core.errors import Forbidden


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
    """An API key, a person, or a person that an instance key acts for; in one organization.

    `org_id` and `org_slug` name the organization that the request acts for; `instance_scoped`
    keys belong to none and choose one per request. At least one of `key` and `user` is there.

    `generation` is the one that this was read under, None while Redis is away: whatever else the
    request needs can be remembered under it without asking again (`shared.cache`).
    """

    org_id: str
    org_slug: str
    permissions: frozenset[str]
    key: KeyRef | None
    user: UserRef | None
    instance_scoped: bool
    expires_at: datetime | None
    generation: bytes | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """Whom a change is attributed to: a person's address, else the key's name."""
        if self.user is not None:
            return self.user.email
        return "" if self.key is None else self.key.name

    def require_any(self, permissions: tuple[str, ...]) -> None:
        """Raises `Forbidden` naming what is missing unless one of `permissions` is held."""
        if not self.permissions.isdisjoint(permissions):
            return
        raise Forbidden(
            f"this needs the permission {' or '.join(permissions)}",
            required_permission=permissions[0],
        )

    def require_person(self, permission: str) -> UserRef:
        """The person; raises `Forbidden` for a key that acts for nobody."""
        if self.user is None:
            raise Forbidden(
                f"only a signed-in user that holds {permission} can do this",
                code="user_required",
                required_permission=permission,
            )
        return self.user
