"""The person or key for which tools read: one organization, and the permissions that it holds."""

import uuid
from dataclasses import dataclass

from shared.foundation.core.errors import Forbidden
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner


@dataclass(frozen=True)
class Asker:
    """The rights under which a tool runs. Tools have no other way to data."""

    runtime: Runtime
    queries: QueryRunner
    org_id: uuid.UUID
    org_slug: str
    permissions: frozenset[str]
    name: str

    @property
    def org(self) -> str:
        """Returns the id of the organization as ClickHouse has it."""
        return str(self.org_id)

    def require(self, permission: str) -> None:
        """Raises `Forbidden` naming the permission unless it is held."""
        if permission not in self.permissions:
            raise Forbidden(
                f"this needs the permission {permission}", required_permission=permission
            )
