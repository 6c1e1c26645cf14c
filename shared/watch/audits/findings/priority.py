"""The priority of a finding: one number from 0 to 1, computed from four in the same range."""

from datetime import datetime

from shared.watch.audits.signals.interface import Candidate, Window

_SEVERITY = {"info": 1 / 3, "warning": 2 / 3, "critical": 1.0}
_MAGNITUDE = {"small": 1 / 3, "medium": 2 / 3, "big": 1.0}

# Everything is listed by severity first: a leaked key comes before many small delays.
SEVERITY_ORDER = ("info", "warning", "critical")

# An acknowledged finding is sorted as if it had this part of its priority.
ACKNOWLEDGED_FACTOR = 0.5


def priority(candidate: Candidate, window: Window, total_sessions: int) -> float:
    """Returns 0.30 coverage + 0.25 severity + 0.25 magnitude + 0.20 recency (docs/use/audits.md).

    The result has 4 decimals. Coverage is the affected share of the window's sessions. Severity and
    magnitude are a third, two thirds or one, from the lowest of their three values to the highest.
    Recency is one for a pattern seen at the end of the window, zero for one last seen at its start.
    """
    weighted = (
        0.30 * coverage(candidate.affected_sessions, total_sessions)
        + 0.25 * _SEVERITY[candidate.severity]
        + 0.25 * _MAGNITUDE[candidate.magnitude]
        + 0.20 * recency(candidate.last_seen_at, window)
    )
    return round(weighted, 4)


def coverage(affected_sessions: int, total_sessions: int) -> float:
    """Returns affected over all sessions, from 0 to 1; 0 if there are none."""
    return _clipped(affected_sessions / total_sessions) if total_sessions > 0 else 0.0


def recency(last_seen_at: datetime, window: Window) -> float:
    """Returns 1 - (end of the window - last seen) / (length of the window), from 0 to 1."""
    length = window.stop - window.start
    return _clipped(1 - (window.stop - last_seen_at) / length) if length else 0.0


def _clipped(share: float) -> float:
    return min(max(share, 0.0), 1.0)
