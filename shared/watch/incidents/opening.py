"""The opening of an incident, which each of its three sources creates."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy.orm import Session

from shared.foundation.core.actor import Actor

Source = Literal["alert", "manual", "audit"]


@dataclass(frozen=True)
class Breach:
    """A breach: the number that was compared, a sentence, and the facts behind it (JSON)."""

    value: float | None
    summary: str
    evidence: Mapping[str, Any] | None


@dataclass(frozen=True)
class Opening:
    """An incident to be opened, or to be folded into the one that is already open.

    `origin` is `origin_of` the alert or audit in notifications, None for an incident that people
    opened without either. `channels` are the alert's or audit's. A person who opens an incident
    (`actor`) is subscribed to it. `hold` locks the alert or finding until the transaction ends, and
    raises `NotFound` if it is gone. Each `group` of an alert has an incident of its own. One with a
    `level` is announced even if it continues an open incident, which ends by itself at `ends_at`.
    """

    org_id: uuid.UUID
    title: str
    source: Source
    severity: str
    breach: Breach
    actor: Actor
    alert_id: uuid.UUID | None = None
    alert_name: str | None = None
    trigger_kind: str | None = None
    finding_id: uuid.UUID | None = None
    origin: Mapping[str, str] | None = None
    channels: tuple[Mapping[str, Any], ...] = ()
    group: Mapping[str, str | None] | None = None
    level: int | str | None = None
    ends_at: datetime | None = None
    hold: Callable[[Session, uuid.UUID], None] = lambda _session, _org_id: None


def origin_of(row_id: uuid.UUID, name: str, description: str | None) -> dict[str, str]:
    """Returns what an incident keeps of its alert or audit: `id`, `name`, and a `description`."""
    told = {"description": description} if description else {}
    return {"id": str(row_id), "name": name, **told}
