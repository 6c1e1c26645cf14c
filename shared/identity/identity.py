"""Who a request acts as, and for which organization."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from shared.errors import Forbidden


@dataclass(frozen=True)
class Identity:
    """An authenticated API key, acting for one organization.

    `org_id` and `org_slug` name the organization that the request acts for; `instance_scoped`
    keys belong to none and choose one per request.
    """

    key_id: uuid.UUID
    name: str
    org_id: str
    org_slug: str
    permissions: frozenset[str]
    instance_scoped: bool
    expires_at: datetime | None

    def require_any(self, permissions: tuple[str, ...]) -> None:
        """Raises `Forbidden` naming what is missing unless one of `permissions` is held."""
        if not self.permissions.isdisjoint(permissions):
            return
        raise Forbidden(
            f"this needs the permission {' or '.join(permissions)}",
            required_permission=permissions[0],
        )
