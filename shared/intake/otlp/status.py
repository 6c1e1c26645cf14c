"""Counts the arrivals over OpenTelemetry in the last 24 hours, by service."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.access.settings.reading import value
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from shared.intake.otlp.assignment.counts import UNMAPPED
from shared.intake.otlp.mapping.tables import UNKNOWN_SERVICE
from shared.intake.receipts.listing import flush_if_possible
from shared.intake.receipts.receipt import add_up
from shared.intake.receipts.totals import Total, Wanted, totals

RANGE = timedelta(hours=24)
MAX_UNMAPPED = 20
ENABLED = "otel.ingest_enabled"
_SOURCES = ("otlp_http", "otlp_grpc")
# More services than an organization has origins in an hour.
_MAX_SERVICES = 1000


@dataclass(frozen=True)
class Service:
    """A service that sent. `content_missing`: calls of models came, and none had content."""

    name: str
    event_count: int
    spans: int
    rejected: int
    not_stored: int
    last_received_at: datetime
    content_missing: bool
    unmapped: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Status:
    """The arrivals of the last 24 hours; services with most events first."""

    enabled: bool
    events_24h: int
    last_received_at: datetime | None
    content_missing: bool
    session_conflicts: int
    services: Sequence[Service]


def status_of(runtime: Runtime, org_id: uuid.UUID) -> Status:
    """Returns the status of an organization, with everything that arrived before the call."""
    flush_if_possible(runtime, org_id)
    moment = now()
    wanted = Wanted(org_id, moment - RANGE, moment + RANGE, {"source": _SOURCES})
    with runtime.postgres.transaction() as session:
        found = totals(session, wanted, ["service"], limit=_MAX_SERVICES)
        enabled = bool(value(session, runtime.settings, org_id, ENABLED))
    everything: dict[str, int] = {}
    for total in found:
        add_up(everything, total.tally)
    services = [_service(total) for total in found if total.tally.keys() & {"accepted", "skipped"}]
    return Status(
        enabled=enabled,
        events_24h=everything.get("events", 0),
        last_received_at=max((one.last_received_at for one in services), default=None),
        content_missing=_is_content_missing(everything),
        session_conflicts=everything.get("session_conflicts", 0),
        services=sorted(services, key=lambda one: (-one.event_count, one.name)),
    )


def _service(total: Total) -> Service:
    tally = total.tally
    return Service(
        name=total.labels[0] or UNKNOWN_SERVICE,
        event_count=tally.get("events", 0),
        spans=tally.get("spans", 0),
        rejected=tally.get("skipped", 0),
        not_stored=tally.get("not_stored", 0),
        last_received_at=total.last_at,
        content_missing=_is_content_missing(tally),
        unmapped=_unmapped(tally),
    )


def _is_content_missing(tally: Mapping[str, int]) -> bool:
    return tally.get("model_calls", 0) > 0 and not tally.get("model_contents", 0)


def _unmapped(tally: Mapping[str, int]) -> list[Mapping[str, Any]]:
    counts = {
        name.removeprefix(UNMAPPED): count
        for name, count in tally.items()
        if name.startswith(UNMAPPED)
    }
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MAX_UNMAPPED]
    return [{"attribute": attribute, "count": count} for attribute, count in most]
