"""Building blocks of the answers, computed the slow way."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.security.sql.recorded import Recording, moment

Rows = list[list[Any]]


def written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def tokens(events: list[dict[str, Any]], name: str) -> int:
    return sum(event.get(name, 0) for event in events)


def is_error(event: dict[str, Any]) -> bool:
    return event["type"] == "error" or event.get("outcome") == "failed"


def durations(recording: Recording) -> list[int]:
    return [event["duration_ms"] for event in recording.events if "duration_ms" in event]


def hours_filled(recording: Recording) -> Rows:
    count = Counter(
        moment(event).replace(minute=0, second=0, microsecond=0) for event in recording.events
    )
    hour, rows = min(count), []
    while hour <= max(count):
        rows.append([written(hour), count[hour]])
        hour += timedelta(hours=1)
    return rows


def running(recording: Recording) -> Rows:
    rows = []
    for session, events in recording.sessions().items():
        total = 0
        for event in events:
            total += event.get("output_tokens", 0)
            rows.append([session, written(moment(event)), total])
    return sorted(rows, key=lambda row: (row[1], row[0]))


def gaps(recording: Recording) -> int:
    moments = ([moment(event) for event in events] for events in recording.sessions().values())
    return max(
        (after - before) // timedelta(microseconds=1)
        for one in moments
        for before, after in pairwise(one)
    )


def score_sums(recording: Recording) -> dict[str, float]:
    sums: Counter[str] = Counter()
    for one in recording.evaluations:
        for name, value in (one.scores or {}).items():
            sums[name] += value  # type: ignore[assignment] # eighths add up exactly
    return dict(sums)
