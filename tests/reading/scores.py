"""Results of the recording's sessions, and their aggregate computed in the slow and obvious way."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from shared.foundation.core.clock import from_us, to_us
from shared.reading.evaluations.records import Evaluation
from tests.support.airline import Airline

Rule = Callable[[Evaluation], bool]
Series = tuple[str, str, str, str]

UNITS = {
    "minute": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "hour": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}


def results_of(recording: Airline, org_id: str) -> list[Evaluation]:
    """Returns one to four results per session, of every status, some at the same moment."""
    draw = random.Random(190)
    sessions: dict[str, list[dict[str, Any]]] = {}
    for line in recording.lines:
        event = msgspec.json.decode(line)
        sessions.setdefault(event["session_id"], []).append(event)
    made = []
    for name, events in sessions.items():
        label = recording.labels[name]
        moment = datetime.fromisoformat(events[-1]["timestamp"])
        for turn in range(draw.choice([1, 1, 2, 4])):
            # The fourth result has the moment of the third.
            moment += timedelta(hours=(0.001, 31, 200, 0)[turn], seconds=draw.random() * (turn < 3))
            status = _status(label, turn)
            made.append(
                Evaluation(
                    org_id=org_id,
                    evaluation_id=str(draw.randrange(10**12)),
                    session_id=name,
                    agent_id=("airline-support", "triage", "*")[int(str(label["task_id"])) % 3],
                    environment=events[0]["environment"] if turn < 2 else "again, by hand",
                    status=status,
                    scores=_scores(label, events, turn, draw) if status == "done" else None,
                    reasoning={"success": "so"} if status == "done" else None,
                    summary=None,
                    error=None if status == "done" else "no",
                    attempt_count=turn + 1,
                    duration_ms=turn or None,
                    completed_at=to_us(moment.astimezone(UTC)),
                )
            )
    return made


def _status(label: dict[str, object], turn: int) -> Any:
    if not label["ended"] and turn < 2:
        return "timeout"
    return "error" if (int(str(label["task_id"])) + turn) % 7 == 0 else "done"


def _scores(
    label: dict[str, object], events: list[dict[str, Any]], turn: int, draw: random.Random
) -> dict[str, float]:
    tools = sum(event["type"] == "tool_use" for event in events)
    scores = {
        "success": float(str(label["reward"])),
        "tools": float(tools),
        "tools a turn": tools / len(events),
        "cost, total": -1e9 - len(events) / 8,
        "politeness": draw.random(),
    }
    if turn == 0:
        scores["größe"] = 1e-12 * len(events)
    if label["trial"] == 3:
        scores["only of the fourth trial"] = draw.gauss(0, 1000)
    return scores


@dataclass(frozen=True)
class Wanted:
    """The meaning of a request."""

    rules: Sequence[Rule] = ()
    latest: bool = False
    since: datetime | None = None
    until: datetime | None = None
    bucket: str = "auto"
    featured: Sequence[str] = ()
    series: Sequence[Series] = ()


def aggregate(results: Sequence[Evaluation], wanted: Wanted) -> dict[str, Any]:
    """Returns the answer, computed without a database."""
    matching = _matching(results, wanted)
    stats = _stats(matching)
    unit, step, starts = _buckets(matching, wanted)
    featured = list(dict.fromkeys(wanted.featured)) or [row["key"] for row in stats[:6]]
    held = [
        [row for row in matching if start <= from_us(row.completed_at) < start + step]
        for start in starts
    ]
    return {
        "total": len(matching),
        "status_counts": _statuses(matching),
        "score_stats": stats,
        "timeline": {
            "bucket_unit": unit,
            "bucket_secs": int(step.total_seconds()),
            "points": [
                {"ts": _text(start), "total": len(rows), **_statuses(rows)}
                | {"scores": _averages(rows, featured)}
                for start, rows in zip(starts, held, strict=True)
            ],
        },
        "series": [_series(series, starts, held) for series in wanted.series[:24]],
        "series_truncated": len(wanted.series) > 24,
    }


def _matching(results: Sequence[Evaluation], wanted: Wanted) -> list[Evaluation]:
    rows = sorted(results, key=lambda row: (row.completed_at, row.evaluation_id))
    if wanted.latest:
        rows = list({row.session_id: row for row in rows}.values())
    return [
        row
        for row in rows
        if all(rule(row) for rule in wanted.rules)
        and (wanted.since is None or from_us(row.completed_at) >= wanted.since)
        and (wanted.until is None or from_us(row.completed_at) < wanted.until)
    ]


def _statuses(rows: Sequence[Evaluation]) -> dict[str, int]:
    return {name: sum(row.status == name for row in rows) for name in ("done", "error", "timeout")}


def _values(rows: Sequence[Evaluation], key: str) -> list[float]:
    return [row.scores[key] for row in rows if row.scores and key in row.scores]


def _stats(rows: Sequence[Evaluation]) -> list[dict[str, Any]]:
    found = []
    for key in {key for row in rows for key in row.scores or ()}:
        values = _values(rows, key)
        one = {name: _add_up(values, name) for name in ("avg", "min", "max", "p50")}
        found.append({"key": key, "count": len(values), **one})
    return sorted(found, key=lambda row: (-int(str(row["count"])), str(row["key"]).encode()))


def _averages(rows: Sequence[Evaluation], keys: Sequence[str]) -> dict[str, float]:
    return {key: math.fsum(v) / len(v) for key in keys if (v := _values(rows, key))}


def _series(
    series: Series, starts: Sequence[datetime], held: Sequence[Sequence[Evaluation]]
) -> dict[str, Any]:
    agent, environment, key, name = series
    points = []
    for start, rows in zip(starts, held, strict=True):
        chosen = [
            row
            for row in rows
            if agent in ("*", row.agent_id) and environment in ("*", row.environment)
        ]
        values = _values(chosen, key)
        points.append({"ts": _text(start), "value": _add_up(values, name) if values else None})
    return {"agent_id": agent, "environment": environment, "key": key, "agg": name} | {
        "points": points
    }


def _add_up(values: list[float], name: str) -> float:
    mean = math.fsum(values) / len(values)
    if name == "avg":
        return mean
    if name == "stddev":
        return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    ranked = sorted(values)
    place = {"min": 0.0, "max": 1.0}.get(name, int(name[1:]) / 100 if name[0] == "p" else 0.0)
    below = math.floor(place * (len(ranked) - 1))
    above = min(below + 1, len(ranked) - 1)
    rest = place * (len(ranked) - 1) - below
    return ranked[below] + rest * (ranked[above] - ranked[below])


def _buckets(
    matching: Sequence[Evaluation], wanted: Wanted
) -> tuple[str, timedelta, list[datetime]]:
    moments = [from_us(row.completed_at) for row in matching]
    first = wanted.since or min(moments)
    stop = wanted.until or max(moments) + timedelta(microseconds=1)
    most = 200 if wanted.bucket == "auto" else 1500
    names = list(UNITS)
    for unit in names[0 if wanted.bucket == "auto" else names.index(wanted.bucket) :]:
        step = UNITS[unit]
        starts = [_begin(first, unit)]
        while starts[-1] + step < stop:
            starts.append(starts[-1] + step)
        if len(starts) <= most:
            return unit, step, starts
    pytest.fail("no unit is coarse enough")


def _begin(moment: datetime, unit: str) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return midnight - timedelta(days=midnight.weekday())
    return midnight + (moment - midnight) // UNITS[unit] * UNITS[unit]


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def require_equal(found: Any, expected: Any, path: str) -> None:
    """Checks that all fields are equal, floats up to rounding. Names the path of a difference."""
    if isinstance(expected, float) and found is not None:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), path
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for name, value in expected.items():
            require_equal(found[name], value, f"{path}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for place, value in enumerate(expected):
            require_equal(found[place], value, f"{path}[{place}]")
    else:
        assert found == expected, path
