"""The actor that assigns OpenTelemetry's records; the work is in `otlp.assignment`."""

import dramatiq

from shared.foundation.core.errors import Unavailable
from shared.foundation.queue.jobs import ASSIGN_RECORDS
from shared.intake.otlp.assignment.assigner import Assigner
from shared.intake.otlp.assignment.rules import OrganizationRules
from workers.context import once, runtime


@once
def _rules_of() -> OrganizationRules:
    return OrganizationRules(runtime())


@dramatiq.actor(
    actor_name=ASSIGN_RECORDS.actor,
    queue_name=ASSIGN_RECORDS.queue,
    max_retries=0,
    max_age=60_000,
    throws=Unavailable,
)
def assign_records() -> None:
    """Assigns the records that wait, and sees to it that the rest is looked at in time."""
    Assigner(runtime(), _rules_of()).run()
