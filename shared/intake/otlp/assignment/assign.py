"""Assigns the records of one trace whose session is decided; a pure function of what is known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.intake.otlp.assignment.chains import Chains, SpanMemory
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.sessions import Session
from shared.intake.otlp.mapping import Assignment, Role, service_agent
from shared.intake.otlp.records import LogRecord, Span

# The longest wait of a span for its parent, of a record for its span, and of a span of kind `other`
# for one of another kind.
PARENT_WAIT_MS = 2000


class Rules(NamedTuple):
    """The settings of an organization that decide about its records."""

    other_spans: str
    session_wait_ms: int


class AssignedItem(NamedTuple):
    """A record, and the decisions about it.

    `start_arrival`: the arrival of its start event, 0 if it is not decided. `drops_logs`: if it
    becomes an event `log`, that is not stored.
    """

    item: Item
    assignment: Assignment
    start_arrival: int = 0
    drops_logs: bool = False


@dataclass
class Outcome:
    """The next step of each record of a trace.

    `assigned`: become events, parents before children. `waiting`: are looked at again at `due_ms`.
    `dropped`: are not stored. `learned`: the spans to remember, by id.
    """

    assigned: list[AssignedItem] = field(default_factory=list)
    waiting: list[Item] = field(default_factory=list)
    dropped: list[Item] = field(default_factory=list)
    learned: dict[str, SpanMemory] = field(default_factory=dict)
    due_ms: int = 0

    def wait(self, item: Item, wait_ms: int) -> None:
        """Lets an item wait for `wait_ms` after its arrival."""
        due = item.since_ms + wait_ms
        self.due_ms = min(self.due_ms, due) if self.waiting else due
        self.waiting.append(item)


def assign(
    items: Sequence[Item],
    session: Session,
    known: Mapping[str, SpanMemory],
    rules: Rules,
    now_ms: int,
) -> Outcome:
    """Assigns the records of a trace, as far as what they need is known or they waited enough.

    Copies of spans that are stored, or of announcements, disappear.
    """
    outcome = Outcome()
    spans = [item for item in items if isinstance(item.record, Span)]
    chains = Chains(
        (item for item in spans if not _is_copy(item, known)),
        known,
        is_agentic=session.is_agentic,
    )
    for span_id in chains.below:
        _assign_span(outcome, chains, span_id, session, known.get(span_id), rules, now_ms)
    logs = (item for item in items if isinstance(item.record, LogRecord))
    _assign_logs(outcome, chains, logs, session, rules, now_ms)
    return outcome


def assign_alone(item: Item) -> AssignedItem | None:
    """Assigns a log record of no trace; None if it has no session either."""
    if item.name is None:
        return None
    agent = item.agent or service_agent(item.resource)
    return AssignedItem(item, Assignment(item.name[1], agent))


def _is_copy(item: Item, known: Mapping[str, SpanMemory]) -> bool:
    before = known.get(item.record.span_id)
    if before is None:
        return False
    return before.is_stored or (item.is_pending and before.announced > 0)


def _assign_span(
    outcome: Outcome,
    chains: Chains,
    span_id: str,
    session: Session,
    before: SpanMemory | None,
    rules: Rules,
    now_ms: int,
) -> None:
    item, above, below = chains.at_hand[span_id], chains.above[span_id], chains.below[span_id]
    kind = chains.kinds[span_id]
    may_be_agentic_later = kind == "other" and not session.is_agentic
    if now_ms < item.since_ms + PARENT_WAIT_MS and (
        above.unknown or (may_be_agentic_later and (item.is_root or _is_dropped(session, rules)))
    ):
        outcome.wait(item, PARENT_WAIT_MS)
        return
    if kind == "other" and _is_dropped(session, rules):
        outcome.dropped.append(item)
        outcome.learned[span_id] = below
        return
    is_below = bool(above.thing) and kind != "other" and below.thing == above.thing
    is_same = is_below or span_id in chains.repeated
    role: Role = "span" if is_same or kind == "other" else kind
    assignment = Assignment(
        session.id,
        below.agent or service_agent(item.resource),
        below.other_agent or None if kind == "agent" else None,
        role,
        item.is_pending,
    )
    below.is_stored = not item.is_pending
    outcome.learned[span_id] = below
    outcome.assigned.append(AssignedItem(item, assignment, before.announced if before else 0))


def _assign_logs(
    outcome: Outcome,
    chains: Chains,
    logs: Iterable[Item],
    session: Session,
    rules: Rules,
    now_ms: int,
) -> None:
    for item in logs:
        span_id = item.record.span_id
        seen = chains.seen(span_id) if span_id else SpanMemory()
        is_unsure = bool(seen.unknown) or not session.is_agentic
        if is_unsure and now_ms < item.since_ms + PARENT_WAIT_MS:
            outcome.wait(item, PARENT_WAIT_MS)
            continue
        agent = item.agent or seen.agent or service_agent(item.resource)
        drops_logs = not session.is_agentic and rules.other_spans != "all"
        outcome.assigned.append(
            AssignedItem(item, Assignment(session.id, agent), drops_logs=drops_logs)
        )


def _is_dropped(session: Session, rules: Rules) -> bool:
    """Returns whether spans of kind `other` are not stored."""
    if rules.other_spans == "all":
        return False
    return rules.other_spans == "none" or not session.is_agentic
