"""Types of faults: their place in the second of two days, and their required findings."""

import random
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field

from shared.watch.audits.signals.interface import Candidate
from tests.support.days import SUPPORT, Days

# Signals of problems that the untouched days do not have.
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
# The recording's own problems: tools that fail, their errors, missed goals and sessions without an
# end, all of one agent. These are subjects, with which a part of the key begins.
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
    """A finding of `signal`. A part of its key begins with `subject`, and it cites one of the ids.

    None, and an empty list of ids, match anything.
    """

    signal: str
    subject: str | None = None
    session_ids: frozenset[str] = field(default_factory=frozenset)

    def is_met(self, candidate: Candidate) -> bool:
        """Returns whether a candidate is this finding."""
        return (
            candidate.signal == self.signal
            and (self.subject is None or _names(candidate, (self.subject,)))
            and (not self.session_ids or bool(self.session_ids & set(candidate.session_ids)))
        )


@dataclass(frozen=True)
class Injected:
    """The required findings of a fault, and the further ones that are allowed."""

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
    """Returns a copy of the days with the fault in the second one."""
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
    """Returns whether the untouched days have the candidate's problem, as the recording does."""
    return _names(candidate, _NATURAL.get(candidate.signal, ()))


def _names(candidate: Candidate, subjects: Sequence[str]) -> bool:
    return any(part.startswith(tuple(subjects)) for part in candidate.key)
