"""Which keys each organization has redacted, remembered by each web process."""

import uuid
from collections.abc import Iterable
from typing import cast

from shared.cache import EpochCache
from shared.deployment.runtime import Runtime
from shared.events.redaction.rules import Redactor
from shared.settings import CATALOGUE, value

SETTING = "redaction.payload_keys"


class Redactions:
    """Answers for the batches of one web process what to take out of them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._remembered: EpochCache[str, Redactor] = EpochCache()

    def of(self, org_id: str, epoch: bytes | None) -> Redactor:
        """The redactor of an organization, as it was set when `epoch` was read or later.

        What is remembered costs nothing. Raises `Unavailable` when PostgreSQL has to be asked and
        is away.
        """
        return self._remembered.get(org_id, epoch, lambda: self._load(org_id))

    def _load(self, org_id: str) -> Redactor:
        with self._runtime.postgres.transaction() as session:
            names = value(session, self._runtime.settings, uuid.UUID(org_id), SETTING)
        # Before they were refused, such names could be set, and had no effect.
        reserved = CATALOGUE[SETTING].reserved
        listed = cast("Iterable[str]", names)
        return Redactor(name for name in listed if name.lower() not in reserved)
