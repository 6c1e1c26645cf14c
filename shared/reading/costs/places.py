"""How many statements of costs an organization runs at once: each reads many events."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import redis

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import RateLimited, Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.queue.slots import RETRY_AFTER_SECS, QueryPlaces, QuerySlots

log = get_logger(__name__)

OF_COSTS = QueryPlaces("cost-reads", 2)
WAIT_SECS = 5.0
_STEP_SECS = 0.05


@contextmanager
def cost_place(client: redis.Redis, clickhouse: ClickHouse, org_id: str) -> Iterator[None]:
    """Holds one of the organization's places during the block, and waits for it.

    Raises `RateLimited` after 5 s. Without Redis there are no places, and reads go on.
    """
    slots = QuerySlots(client, clickhouse, OF_COSTS)
    until = time.monotonic() + WAIT_SECS
    with ExitStack() as held:
        while not _takes(held, slots, org_id):
            if time.monotonic() >= until:
                raise RateLimited(
                    f"this organization already reads costs {OF_COSTS.at_once} times: try again"
                    " when these requests have ended",
                    code="too_many_cost_reads",
                    retry_after_secs=RETRY_AFTER_SECS,
                )
            time.sleep(_STEP_SECS)
        yield


def _takes(held: ExitStack, slots: QuerySlots, org_id: str) -> bool:
    try:
        held.enter_context(slots.hold(org_id))
    except RateLimited:
        return False
    except Unavailable:
        log.warning("cost_places_unavailable")
    return True
