"""The evidence of a finding, and that of the incident which a critical one opens."""

from typing import TypedDict

from shared.watch.incidents.evidence import EvidenceWindow


class FoundEvidence(TypedDict):
    """The newest sessions and events with the pattern, and the numbers of its first query."""

    session_ids: list[str]
    event_ids: list[int]
    numbers: dict[str, float]


class AuditEvidence(FoundEvidence):
    """Of an audit: the finding's, and how much of the run's window it affects."""

    affected_sessions: int
    total_sessions: int
    window: EvidenceWindow
