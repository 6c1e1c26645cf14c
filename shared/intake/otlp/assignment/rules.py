"""The settings and the redacted keys of organizations, cached by each worker process."""

import uuid

from shared.access.settings.reading import value
from shared.foundation.cache import EpochCache, current_epoch
from shared.foundation.deployment.runtime import Runtime
from shared.intake.otlp.assignment.assign import Rules
from shared.intake.redaction.redactions import Redactions
from shared.intake.redaction.rules import Redactor

_OTHER_SPANS = "otel.other_spans"
_SESSION_WAIT = "otel.session_wait_secs"


class OrganizationRules:
    """A lookup of what an organization wants done with its records."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._redactions = Redactions(runtime)
        self._remembered: EpochCache[str, Rules] = EpochCache()

    def of(self, org_id: str) -> tuple[Rules, Redactor]:
        """Returns the rules and the redactor of an organization, as they are now.

        Raises `Unavailable` if PostgreSQL is needed and down.
        """
        epoch = current_epoch(self._runtime.redis)
        rules = self._remembered.get(org_id, epoch, lambda: self._load(uuid.UUID(org_id)))
        return rules, self._redactions.of(org_id, epoch)

    def _load(self, org_id: uuid.UUID) -> Rules:
        config = self._runtime.settings
        with self._runtime.postgres.transaction() as session:
            other_spans = value(session, config, org_id, _OTHER_SPANS)
            wait_secs = value(session, config, org_id, _SESSION_WAIT)
        return Rules(str(other_spans), int(str(wait_secs)) * 1000)
