"""The events of the demonstration: sessions of several agents that ended just now."""

import random
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from devstack.up.profiles import ENVIRONMENTS, PROFILES
from devstack.up.script import Event, Script

_SESSIONS_A_PAIR = 4
_STILL_RUNNING = 3
_SPREAD = timedelta(hours=3)


@dataclass(frozen=True)
class Recording:
    """`events` in the order of their time. `lines` are the same events as they are sent."""

    events: tuple[Event, ...]
    lines: tuple[bytes, ...]

    @property
    def session_ids(self) -> list[str]:
        """All sessions, in the order of their first events."""
        return list(dict.fromkeys(event["session_id"] for event in self.events))

    def of_session(self, session_id: str) -> list[Event]:
        """Returns the events of one session, oldest first."""
        return [event for event in self.events if event["session_id"] == session_id]

    @property
    def ended_session_ids(self) -> list[str]:
        """The sessions with an end event, which starts an evaluation."""
        roots = {event["session_id"]: event["agent_id"] for event in reversed(self.events)}
        ended = {
            event["session_id"]
            for event in self.events
            if event["type"] == "agent_end" and event["agent_id"] == roots[event["session_id"]]
        }
        return [session_id for session_id in self.session_ids if session_id in ended]


def record(now: datetime | None = None) -> Recording:
    """Creates some 70 sessions and 3,500 events. Session ids are new each time."""
    newest = now or datetime.now(UTC)
    run = secrets.token_hex(3)
    dice = random.Random(run)  # noqa: S311 a demonstration needs no secret randomness
    pairs = [(profile, environment) for profile in PROFILES for environment in ENVIRONMENTS]
    plan = pairs * _SESSIONS_A_PAIR
    events: list[Event] = []
    for number, (profile, environment) in enumerate(plan):
        script = Script(
            f"demo-{run}-{number:02}",
            profile,
            environment,
            dice,
            finished=number < len(plan) - _STILL_RUNNING,
        )
        ended_at = newest - _SPREAD * (1 - (number + 1) / len(plan))
        events += script.events(ended_at)
    events.sort(key=lambda event: str(event["timestamp"]))
    return Recording(tuple(events), tuple(msgspec.json.encode(event) for event in events))
