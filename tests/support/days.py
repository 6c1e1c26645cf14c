"""Two days of the airline recording, for faults to be put into the second of them.

A day is drawn from the recorded sessions with replacement. Each session gets its own id, start and
durations, so that two days differ as real days do. A second agent, `REFUNDS`, gets sessions without
any problem: faults of sessions go there, where the recording has none. The seed alone determines
the draw.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS
from shared.foundation.core.clock import format_us, to_us
from shared.reading.evaluations import store as evaluations
from shared.reading.evaluations.records import COLUMNS, Evaluation
from shared.watch.audits.signals.interface import Window
from tests.support.airline import Airline
from tests.support.evaluations import evaluation
from tests.support.looks import ingest

WINDOW = Window(datetime(2025, 6, 3, tzinfo=UTC), datetime(2025, 6, 4, tzinfo=UTC))
SUPPORT, REFUNDS = "airline-support", "airline-refunds"
_DAY_US = 24 * 3600 * 1_000_000
# Sessions start in this first part of the day, so an unfinished one stays so for hours.
_BEGIN_WITHIN = 0.8
_SESSIONS, _REFUNDS = (160, 240), (40, 60)
_EVALUATED, _FAILED = 0.95, 0.02
_REPLACED = ("request_id", "input_id", "tool_call_id", "hook_id")

Event = dict[str, Any]


@dataclass
class Session:
    """A session of a day: events with `us`, microseconds since the epoch, and its scores."""

    session_id: str
    agent_id: str
    environment: str
    events: list[Event]
    reward: float
    scores: dict[str, float] | None = None
    evaluated_at: int = 0

    @property
    def end(self) -> Event | None:
        """Its `agent_end`."""
        last = self.events[-1]
        return last if last["type"] == "agent_end" else None

    @property
    def calls(self) -> list[Event]:
        """Its `tool_result` events."""
        return [event for event in self.events if event["type"] == "tool_result"]

    def lines(self) -> list[bytes]:
        """Returns its events as sent."""
        return [
            msgspec.json.encode(
                {name: value for name, value in event.items() if name != "us"}
                | {
                    "timestamp": format_us(event["us"]),
                    "session_id": self.session_id,
                    "agent_id": self.agent_id,
                    "environment": self.environment,
                }
            )
            for event in self.events
        ]

    def result(self, org_id: str) -> list[Evaluation]:
        """Returns the evaluator's result, if there is one."""
        if self.end is None or not self.evaluated_at:
            return []
        return [
            evaluation(
                org_id,
                self.session_id,
                self.evaluated_at,
                agent_id=self.agent_id,
                environment=self.environment,
                status="error" if self.scores is None else "done",
                scores=self.scores,
            )
        ]


@dataclass(frozen=True)
class Template:
    """A recorded session: its events with `us` from its start on, and whether all went well."""

    session_id: str
    environment: str
    events: tuple[Event, ...]
    reward: float
    is_clean: bool


@dataclass(frozen=True)
class Days:
    """The day before and the audited day."""

    before: list[Session]
    now: list[Session]

    def of(self, agent_id: str) -> list[Session]:
        """Returns the sessions of an agent on the audited day."""
        return [session for session in self.now if session.agent_id == agent_id]


def templates_of(airline: Airline) -> list[Template]:
    """Returns the recorded sessions."""
    by_session: dict[str, list[Event]] = {}
    for line in airline.lines:
        event = msgspec.json.decode(line)
        event["us"] = to_us(datetime.fromisoformat(event.pop("timestamp")))
        by_session.setdefault(event["session_id"], []).append(event)
    return [
        _template(session_id, events, airline.labels[session_id])
        for session_id, events in by_session.items()
    ]


def _template(session_id: str, events: list[Event], label: Mapping[str, object]) -> Template:
    start = events[0]["us"]
    for event in events:
        event["us"] -= start
    last = events[-1]
    is_clean = last.get("outcome") == "success" and not any(
        event["type"] == "error" or event.get("error") for event in events
    )
    reward = float(str(label["reward"]))
    return Template(session_id, events[0]["environment"], tuple(events), reward, is_clean)


def days(templates: Sequence[Template], seed: int) -> Days:
    """Returns the two days of a seed, with no faults but the recorded ones."""
    rng = random.Random(seed)
    made = []
    for name, start in (("a", to_us(WINDOW.before.start)), ("b", to_us(WINDOW.start))):
        sessions = [
            _session(rng, f"{seed}{name}{number}", rng.choice(templates), SUPPORT, start)
            for number in range(rng.randint(*_SESSIONS))
        ]
        clean = [template for template in templates if template.is_clean]
        sessions += [
            _session(rng, f"{seed}{name}r{number}", rng.choice(clean), REFUNDS, start)
            for number in range(rng.randint(*_REFUNDS))
        ]
        made.append(sessions)
    return Days(*made)


def _session(
    rng: random.Random, session_id: str, template: Template, agent_id: str, day_us: int
) -> Session:
    start = day_us + int(rng.random() * _BEGIN_WITHIN * _DAY_US)
    events = []
    for recorded in template.events:
        event = recorded | {"us": start + recorded["us"]}
        if "duration_ms" in event:
            event["duration_ms"] = max(1, round(event["duration_ms"] * rng.lognormvariate(0, 0.15)))
        for name in _REPLACED:
            if name in event:
                event[name] = event[name].replace(template.session_id, session_id)
        events.append(event)
    session = Session(session_id, agent_id, template.environment, events, template.reward)
    helpful = 0.5 + 0.3 * template.reward + rng.gauss(0, 0.1)
    if rng.random() < _EVALUATED:
        session.evaluated_at = events[-1]["us"] + rng.randint(3, 120) * 1_000_000
        if rng.random() >= _FAILED:
            session.scores = {"reward": template.reward, "helpfulness": min(max(helpful, 0), 1)}
    return session


def store(
    clickhouse: ClickHouse,
    org_id: str,
    made: Days,
    *,
    like: str | None = None,
    changed: frozenset[str] = frozenset(),
) -> None:
    """Stores both days.

    With `like`, sessions not in `changed` are copied from that organization.
    """
    sessions = made.before + made.now
    if like is not None:
        _copy(clickhouse, like, org_id, changed)
        sessions = [session for session in sessions if session.session_id in changed]
    ingest(clickhouse, org_id, (line for session in sessions for line in session.lines()))
    evaluations.insert(clickhouse, [row for session in sessions for row in session.result(org_id)])


def _copy(clickhouse: ClickHouse, source: str, target: str, but: frozenset[str]) -> None:
    for table, columns in (
        ("events", [column.name for column in EVENT_COLUMNS]),
        ("evaluations", COLUMNS),
    ):
        others = ", ".join(name for name in columns if name != "org_id")
        clickhouse.execute(
            f"INSERT INTO {table} (org_id, {others}) SELECT {{target:String}}, {others}"
            f" FROM {table} FINAL WHERE org_id = {{source:String}}"
            " AND session_id NOT IN {but:Array(String)}",
            {"target": target, "source": source, "but": sorted(but)},
        )
