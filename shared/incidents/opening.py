"""What opens an incident, as its three sources hand it over."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Source = Literal["alert", "manual", "audit"]


@dataclass(frozen=True)
class Breach:
    """What was seen: the number that was compared, a sentence, and what it was made from (JSON)."""

    value: float | None
    summary: str
    evidence: Mapping[str, Any] | None


@dataclass(frozen=True)
class Opening:
    """An incident to be opened, or to be folded into the one that is open already.

    `origin` is `{"id", "name"}` of the alert or audit that notifications tell of, None for an
    incident that people opened without either. `channels` are the alert's or audit's. `actor` is
    an address, the name of a key, or `system`. `subscriber` is the address of the person who opens
    it and wants to hear how it goes on, None for a key or a machine.
    """

    org_id: uuid.UUID
    title: str
    source: Source
    severity: str
    breach: Breach
    actor: str
    alert_id: uuid.UUID | None = None
    alert_name: str | None = None
    trigger_kind: str | None = None
    finding_id: uuid.UUID | None = None
    origin: Mapping[str, str] | None = None
    channels: tuple[Mapping[str, Any], ...] = ()
    subscriber: str | None = None
