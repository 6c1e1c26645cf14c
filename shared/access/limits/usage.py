"""Today's counts of events that limits admitted and refused, for people."""

import uuid

import msgspec

from shared.access.limits.counting import LimitCounts
from shared.access.limits.service import load_rules
from shared.foundation.core.clock import from_us
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment.runtime import Runtime

log = get_logger(__name__)


class LimitsToday(msgspec.Struct, frozen=True):
    """The limits of an organization, 0 for none, and the counts of the present day (UTC).

    In the soft mode `refused_*` are requests that would have been refused. `refused_by` has them by
    limit; a request over several limits counts for each.
    """

    enforced: bool
    key_requests_per_sec: int
    key_events_per_sec: int
    org_events_per_day: int
    day: str
    events: int
    refused_requests: int
    refused_events: int
    refused_by: dict[str, int]


def today(runtime: Runtime, org_id: uuid.UUID) -> LimitsToday | None:
    """Returns the limits and counts of an organization, None while Redis is down.

    Events are counted while there is a limit of them. Raises `Unavailable` if PostgreSQL is down.
    """
    rules = load_rules(runtime, str(org_id))
    try:
        day = LimitCounts(runtime.redis).today(str(org_id))
    except Unavailable as error:
        log.warning("limits_not_counted", reason=error.message)
        return None
    return LimitsToday(
        enforced=rules.enforced,
        key_requests_per_sec=rules.key_requests,
        key_events_per_sec=rules.key_events,
        org_events_per_day=rules.org_events,
        day=from_us(day.start_secs * 1_000_000).date().isoformat(),
        events=day.events,
        refused_requests=day.refused_requests,
        refused_events=day.refused_events,
        refused_by=day.refused_by,
    )
