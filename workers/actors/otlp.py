"""The actor that places OpenTelemetry's records; the work is in `shared.otlp.assignment`."""

import dramatiq

from shared.core.errors import Unavailable
from shared.otlp.assignment.assigner import Placer
from shared.otlp.assignment.rules import OrganizationRules
from shared.queue.jobs import PLACE_RECORDS
from workers.context import once, runtime


@once
def _rules_of() -> OrganizationRules:
    return OrganizationRules(runtime())


@dramatiq.actor(
    actor_name=PLACE_RECORDS.actor,
    queue_name=PLACE_RECORDS.queue,
    max_retries=0,
    max_age=60_000,
    throws=Unavailable,
)
def place_records() -> None:
    """Places the records that wait, and sees to it that the rest is looked at in time."""
    Placer(runtime(), _rules_of()).run()
