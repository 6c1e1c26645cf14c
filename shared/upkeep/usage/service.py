"""Usage of an organization by billing window, at most a minute old."""

import uuid
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import select

from shared.access.limits.usage import LimitsToday, today
from shared.access.organizations import Organization
from shared.foundation.cache.answers import remembered
from shared.foundation.core.clock import now, to_us
from shared.foundation.core.errors import NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.usage.billing_windows import BillingWindow, chosen_window, newest_windows
from shared.upkeep.usage.counters import COUNTERS, UsageSubject
from shared.upkeep.usage.evaluations import evaluations_by_window
from shared.upkeep.usage.events import events_by_window

FRESH = timedelta(seconds=60)
# The windows of about three years.
MAX_WINDOWS = 36


class UsageCounts(msgspec.Struct, frozen=True):
    """Numbers by the names of `COUNTERS`, and the time when they were counted."""

    numbers: dict[str, int]
    calculated_at: datetime


class Usage(msgspec.Struct, frozen=True):
    """The usage of an organization in a window, as of `calculated_at`.

    `usage` has a number for each of `COUNTERS`; after `stale_after` they are counted again.
    `limits` are always those of the present, None while Redis is down.
    """

    org_id: uuid.UUID
    billing_anchor: datetime
    window: BillingWindow
    usage: dict[str, int]
    calculated_at: datetime
    stale_after: datetime
    limits: LimitsToday | None


class WindowUsage(msgspec.Struct, frozen=True):
    """A window, and the numbers of events and evaluations in it."""

    start: datetime
    end: datetime
    events_ingested: int
    evaluations: int


def usage(runtime: Runtime, org_id: uuid.UUID, window_start: datetime | None) -> Usage:
    """Returns the usage in the window that contains `window_start`, the current one for None.

    Raises `Invalid` naming `window_start` for a moment before the first window or after the current
    one, `NotFound` for an organization that no longer exists.
    """
    anchor = _anchor(runtime, org_id)
    window = chosen_window(anchor, now(), window_start)
    counted = remembered(
        runtime.redis,
        f"usage:{org_id}:{to_us(window.start)}",
        UsageCounts,
        FRESH,
        lambda: _count(UsageSubject(runtime, org_id, window)),
    )
    return Usage(
        org_id=org_id,
        billing_anchor=anchor,
        window=window,
        usage=counted.numbers,
        calculated_at=counted.calculated_at,
        stale_after=counted.calculated_at + FRESH,
        limits=today(runtime, org_id),
    )


def windows(runtime: Runtime, org_id: uuid.UUID) -> list[WindowUsage]:
    """Lists the newest 36 windows of an organization, newest first.

    Raises the errors of `usage`.
    """
    anchor = _anchor(runtime, org_id)
    return remembered(
        runtime.redis,
        f"usage:{org_id}:windows",
        list[WindowUsage],
        FRESH,
        lambda: _count_by_window(runtime, org_id, newest_windows(anchor, now(), MAX_WINDOWS)),
    )


def _anchor(runtime: Runtime, org_id: uuid.UUID) -> datetime:
    with runtime.postgres.transaction() as session:
        query = select(Organization.billing_anchor).where(Organization.id == org_id)
        anchor = session.scalar(query)
    if anchor is None:
        raise NotFound("there is no such organization", code="org_not_found")
    return anchor


def _count(subject: UsageSubject) -> UsageCounts:
    # Taken first, because rows that are stored while the rest is read may be missing.
    calculated_at = now()
    numbers = {name: counter.count(subject) for name, counter in COUNTERS.items()}
    return UsageCounts(numbers, calculated_at)


def _count_by_window(
    runtime: Runtime, org_id: uuid.UUID, found: list[BillingWindow]
) -> list[WindowUsage]:
    span = BillingWindow(found[-1].start, found[0].end)
    events = events_by_window(runtime.clickhouse, str(org_id), span)
    evaluations = evaluations_by_window(runtime.clickhouse, str(org_id), span)
    last = len(found) - 1
    return [
        WindowUsage(
            start=window.start,
            end=window.end,
            events_ingested=events.get(last - number, 0),
            evaluations=evaluations.get(last - number, 0),
        )
        for number, window in enumerate(found)
    ]
