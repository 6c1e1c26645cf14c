"""The key with which a group sends canaries: it can add events of the hidden organization, only.

A group makes its key when it starts, renews it twice a day and removes it when it ends. Nothing but
the memory of its process has the secret.
"""

import time
from datetime import timedelta

from sqlalchemy import delete, func, or_
from sqlalchemy.orm import Session

from shared.access import organizations
from shared.access.keys.models import ApiKey
from shared.access.keys.rules import DEFAULT_PERMISSIONS, hash_secret, new_secret
from shared.access.organizations import CANARY_ID
from shared.foundation.postgres import Postgres

RENEW_SECS = 12 * 3600.0
_VALID = timedelta(days=1)


class CanaryKey:
    """The key of one group."""

    def __init__(self, postgres: Postgres, group: str) -> None:
        self._postgres = postgres
        self._name = f"canary {group}"
        self._secret: str | None = None
        self._renew_at = 0.0

    def secret(self) -> str:
        """Returns a valid secret; raises `Unavailable` if a new one cannot be stored."""
        if self._secret is None or time.monotonic() >= self._renew_at:
            self._renew()
        return self._secret or ""

    def refuse(self) -> None:
        """Has a new key made before the next use: somebody removed this one."""
        self._secret = None

    def remove(self) -> None:
        """Removes the key; raises `Unavailable`."""
        with self._postgres.transaction() as session:
            self._remove(session)

    def _renew(self) -> None:
        secret = new_secret()
        with self._postgres.transaction() as session:
            organizations.ensure_canary(session)
            self._remove(session)
            session.flush()
            session.add(
                ApiKey(
                    org_id=CANARY_ID,
                    name=self._name,
                    key_hash=hash_secret(secret.encode()),
                    permissions=list(DEFAULT_PERMISSIONS),
                    expires_at=func.now() + _VALID,
                )
            )
        self._secret = secret
        self._renew_at = time.monotonic() + RENEW_SECS

    def _remove(self, session: Session) -> None:
        """Removes this group's key, and those of groups that were killed."""
        session.execute(
            delete(ApiKey).where(
                ApiKey.org_id == CANARY_ID,
                or_(ApiKey.name == self._name, ApiKey.expires_at < func.now()),
            )
        )
