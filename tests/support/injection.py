"""What a fault is, how it is put into the second of two days, and how it has to be found."""

import random
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field

from shared.audits.signals import Candidate
from tests.support.days import SUPPORT, Days

# Signals of what the untouched days lack.
UNNATURAL = (
    "latency_drift",
    "error_drift",
    "score_drift",
    "tool_loop",
    "context_pressure",
    "token_outlier",
    "leaked_credential",
    "evaluation_gap",
)
# What the recording itself has: tools that fail, their errors, goals that are not reached and
# sessions without an end, all of one agent. Subjects, with which a part of the key begins.
_NATURAL = {
    "tool_failure": (
        "update_reservation_flights",
        "book_reservation",
        "update_reservation_baggages",
    ),
    "error_cluster": ("ToolError", "Error: "),
    "goal_failure": (SUPPORT,),
    "abandoned_session": (SUPPORT,),
}


@dataclass(frozen=True)
class Expected:
    """A finding of `signal`; a part of its key begins with `subject`, and it cites one of these.

    None, and no ids, leave that open.
    """

    signal: str
    subject: str | None = None
    session_ids: frozenset[str] = field(default_factory=frozenset)

    def is_met(self, candidate: Candidate) -> bool:
        """Whether a candidate is this finding."""
        return (
            candidate.signal == self.signal
            and (self.subject is None or _names(candidate, (self.subject,)))
            and (not self.session_ids or bool(self.session_ids & set(candidate.session_ids)))
        )


@dataclass(frozen=True)
class Injected:
    """How a fault has to be found, and what else may be found because of it."""

    expected: tuple[Expected, ...]
    consequences: tuple[Expected, ...] = ()


@dataclass(frozen=True)
class Faulty:
    """Days with a fault, and the ids of the sessions that it changed."""

    days: Days
    injected: Injected
    changed: frozenset[str]


Fault = Callable[[random.Random, Days], Injected]


def inject(days: Days, seed: int, fault: Fault) -> Faulty:
    """A copy of the days with the fault in the second; they themselves stay as they are."""
    now = [copy(session) for session in days.now]
    for session in now:
        session.events = [dict(event) for event in session.events]
        session.scores = None if session.scores is None else dict(session.scores)
    injected = fault(random.Random(f"{seed} {fault.__name__}"), Days(days.before, now))
    for session in now:
        session.events.sort(key=lambda event: event["us"])
    changed = {new.session_id for old, new in zip(days.now, now, strict=True) if new != old}
    return Faulty(Days(days.before, now), injected, frozenset(changed))


def is_natural(candidate: Candidate) -> bool:
    """Whether the untouched days have what a candidate says, as the recording does."""
    return _names(candidate, _NATURAL.get(candidate.signal, ()))


def _names(candidate: Candidate, subjects: Sequence[str]) -> bool:
    return any(part.startswith(tuple(subjects)) for part in candidate.key)
