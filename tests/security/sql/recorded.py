"""A small recording of agents at work, each event stored twice, and the same as plain Python."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.foundation.core.clock import to_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import store
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.reading.evaluations import store as evaluation_store
from shared.reading.evaluations.records import Evaluation
from tests.support.evaluations import evaluation
from tests.support.runtime import Org, make_org

Event = dict[str, Any]

START = datetime(2026, 11, 2, 8, tzinfo=UTC)
SESSIONS, EVENTS_EACH = 24, 20
TOOLS = ("search_flights", "book", "refund", "say 'sorry'", "e\\mail")
MODELS = ("large", "small")
ENVIRONMENTS = ("production", "staging", "default")


@dataclass(frozen=True)
class Recording:
    """An organization, its events as they were sent, in the order of time, and its results."""

    org: Org
    events: list[Event]
    evaluations: list[Evaluation]

    def by(self, field: str, events: Iterable[Event] | None = None) -> dict[Any, list[Event]]:
        """Returns the events that have a field, by its value."""
        groups = defaultdict(list)
        for event in self.events if events is None else events:
            if event.get(field) is not None:
                groups[event[field]].append(event)
        return dict(groups)

    def of_type(self, event_type: str) -> list[Event]:
        """Returns the events of one type."""
        return [event for event in self.events if event["type"] == event_type]

    def sessions(self) -> dict[str, list[Event]]:
        """Returns the events of each session, in the order of time."""
        return self.by("session_id")


def moment(event: Event) -> datetime:
    """Returns the moment of an event."""
    return datetime.fromisoformat(event["timestamp"])


def record(runtime: Runtime) -> Recording:
    """Stores a recording in a new organization, with every batch and result twice."""
    org = make_org(runtime)
    events = _events(random.Random(11))
    lines = [json.dumps(event).encode() for event in events]
    for _ in range(2):
        batch = decode_events(lines, org.id, 100_000).batch
        store.insert(
            runtime.clickhouse, columns_of(org.id, batch, IngestRules(lambda _model: 1000))
        )
    results = _evaluations(org, events)
    for _ in range(2):
        evaluation_store.insert(runtime.clickhouse, results)
    return Recording(org, events, results)


def _events(chance: random.Random) -> list[Event]:
    events = []
    for session in range(SESSIONS):
        at = START + timedelta(hours=3 * session, seconds=chance.randrange(3600))
        fixed = {
            "session_id": f"session-{session:02}",
            "environment": ENVIRONMENTS[session % 3],
            "customer": {"plan": ("free", "pro")[session % 2], "name": f"Ann\u00e9 {session}"},
        }
        for place in range(EVENTS_EACH):
            at += timedelta(microseconds=chance.randrange(1, 90_000_000))
            text = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            agent = "main" if place < EVENTS_EACH // 2 else f"helper-{session % 4}"
            events.append({"timestamp": text, **fixed, "agent_id": agent, **_what(chance, place)})
    return sorted(events, key=lambda event: str(event["timestamp"]))


def _what(chance: random.Random, place: int) -> Event:
    if place == 0:
        return {"type": "agent_start", "goal": "help"}
    if place == EVENTS_EACH - 1:
        return {"type": "agent_end", "outcome": chance.choice(("success", "failed"))}
    kind = chance.choice(("tool_use", "tool_use", "model_response", "tool_result", "error"))
    if kind == "model_response":
        tokens = {"input_tokens": chance.randrange(900), "output_tokens": chance.randrange(90)}
        return {"type": kind, "model": chance.choice(MODELS), **tokens}
    if kind == "error":
        return {"type": kind, "error": "broken", "error_type": chance.choice(("timeout", "denied"))}
    tool = chance.choice(TOOLS)
    if kind == "tool_use":
        tags = chance.sample(("a", "b", "c", "d"), chance.randrange(4))
        return {"type": kind, "tool_name": tool, "tags": tags, "cost": chance.randrange(9) / 4}
    return {"type": kind, "tool_name": tool, "duration_ms": chance.randrange(5000)}


def _evaluations(org: Org, events: list[Event]) -> list[Evaluation]:
    chance = random.Random(12)
    sessions = sorted({str(event["session_id"]) for event in events})
    results = []
    for number, session in enumerate(sessions[:-4]):
        done = number % 5 != 4
        scores = {"helpful": chance.randrange(9) / 8, "correct": chance.randrange(9) / 8}
        if number % 2:
            del scores["correct"]
        results.append(
            evaluation(
                org.id,
                session,
                to_us(START + timedelta(days=number % 6, hours=number)),
                environment=ENVIRONMENTS[number % 3],
                status="done" if done else "timeout",
                scores=scores if done else None,
                reasoning={"helpful": "it's \\ fine"} if done else None,
                attempt_count=1 + number % 3,
                duration_ms=100 * number,
            )
        )
    return results
