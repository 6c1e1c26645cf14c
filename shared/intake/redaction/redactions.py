"""The redacted keys of each organization, cached by each web process."""

import uuid
from collections.abc import Iterable
from typing import cast

from shared.access.settings.catalogue import CATALOGUE
from shared.access.settings.reading import value
from shared.foundation.cache import EpochCache
from shared.foundation.deployment.runtime import Runtime
from shared.intake.redaction.rules import Redactor

SETTING = "redaction.payload_keys"


class Redactions:
    """A lookup of redactors for the batches of one web process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._remembered: EpochCache[str, Redactor] = EpochCache()

    def of(self, org_id: str, epoch: bytes | None) -> Redactor:
        """Returns the redactor of an organization, as of `epoch` or later.

        A cached answer costs nothing. Raises `Unavailable` if PostgreSQL is needed and down.
        """
        return self._remembered.get(org_id, epoch, lambda: self._load(org_id))

    def _load(self, org_id: str) -> Redactor:
        with self._runtime.postgres.transaction() as session:
            names = value(session, self._runtime.settings, uuid.UUID(org_id), SETTING)
        # Earlier releases accepted such names, which had no effect.
        reserved = CATALOGUE[SETTING].reserved
        listed = cast("Iterable[str]", names)
        return Redactor(name for name in listed if name.lower() not in reserved)
