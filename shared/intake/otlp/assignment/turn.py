"""One turn of one organization: reads records, decides about their traces, writes what follows.

What was read leaves its stream only in the transaction that adds the events, the records that go on
waiting and the remembered spans. An assigner that is killed before leaves everything as it was.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import redis
from redis.client import Pipeline

from shared.foundation.core.logs import get_logger
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import ASSIGN_RECORDS
from shared.intake.ingest import dead_letters
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import state
from shared.intake.otlp.assignment.assign import Outcome, Rules, assign, assign_alone
from shared.intake.otlp.assignment.counts import Counts
from shared.intake.otlp.assignment.intake import Intake, alone, read
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.lease import Lease
from shared.intake.otlp.assignment.output import Output, Writer
from shared.intake.otlp.assignment.rules import OrganizationRules
from shared.intake.otlp.assignment.sessions import has_other_name, propose
from shared.intake.otlp.assignment.state import Question, TraceDecision
from shared.intake.otlp.assignment.waiting import Changes
from shared.intake.otlp.records import Span

log = get_logger(__name__)

# Spans above remembered ones are looked up level by level.
_MAX_LEVELS = 8
MAX_LOGGED = 100


class TurnOutcome(NamedTuple):
    """The outcome of a turn. `is_full`: there may be more to read."""

    records: int
    events: int
    is_full: bool


def take_turn(
    runtime: Runtime, lease: Lease, shards: Sequence[int], rules_of: OrganizationRules, now_ms: int
) -> TurnOutcome:
    """Assigns records of an organization that arrived, or that waited for long enough.

    They are of those of the shards that no other assigner has. `now_ms` is the time of Redis.
    Raises `LeaseLost` if another assigner may have a shard by now, and `Unavailable` if PostgreSQL
    is needed and down; then nothing changed.
    """
    intake = read(runtime.redis, lease, shards, now_ms)
    if not intake:
        return TurnOutcome(0, 0, is_full=False)
    with spans.work(
        ASSIGN_RECORDS.actor,
        kind="consumer",
        attributes={
            "messaging.system": "redis",
            "messaging.operation.type": "process",
            "messaging.batch.message_count": len(intake.entries),
            spans.ORGANIZATION: lease.org_id,
        },
        causes=[one.traceparent for one in intake.entries if one.traceparent],
    ):
        return _assigned(runtime, lease, intake, rules_of, now_ms)


def _assigned(
    runtime: Runtime, lease: Lease, intake: Intake, rules_of: OrganizationRules, now_ms: int
) -> TurnOutcome:
    org_id = lease.org_id
    rules, redactor = rules_of.of(org_id)
    settled = _settle(runtime.redis, org_id, intake, rules, now_ms)
    outcomes = {
        trace_id: _outcome(items, settled[trace_id], rules, now_ms)
        for trace_id, items in intake.traces.items()
    }
    writer = Writer(org_id, redactor, runtime.settings.ingest_max_event_bytes, lease.keep)
    output = _output(writer, intake, settled, outcomes)
    with lease.transaction() as pipe:
        for is_named, part in output.items():
            if part:
                part.write(pipe, org_id, intake.org_slug, idle_only=is_named)
        _write_decisions(pipe, org_id, intake, settled, outcomes, writer.counts)
        _write_what_waits(pipe, org_id, intake, outcomes)
        _bury(pipe, org_id, intake, writer)
        _remove(pipe, org_id, intake)
        writer.counts.write(pipe, org_id)
    taken = TurnOutcome(
        sum(map(len, intake.traces.values())) + len(intake.alone),
        sum(len(part.batch) for part in output.values()),
        intake.is_full,
    )
    requests = dict.fromkeys(one.request_id for one in intake.entries if one.request_id)
    log.info(
        "records_assigned",
        org=intake.org_slug,
        records=taken.records,
        events=taken.events,
        waiting=sum(len(outcome.waiting) for outcome in outcomes.values()),
        request_ids=list(requests)[:MAX_LOGGED],
    )
    return taken


def _settle(
    client: redis.Redis, org_id: str, intake: Intake, rules: Rules, now_ms: int
) -> Mapping[str, TraceDecision]:
    """Decides the session of each trace, and looks up what is known of its spans."""
    questions = [
        Question(
            trace_id,
            propose(trace_id, items, rules.session_wait_ms, now_ms),
            any(item.kind != "other" for item in items),
            _span_ids(items),
        )
        for trace_id, items in intake.traces.items()
    ]
    asked = {one.trace_id: set(one.span_ids) for one in questions}
    settled = dict(zip(asked, state.settle(client, org_id, questions), strict=True))
    for _ in range(_MAX_LEVELS):
        questions = []
        for trace_id, one in settled.items():
            above = {known.unknown for known in one.known.values() if known.unknown}
            if above := above - asked[trace_id]:
                asked[trace_id] |= above
                questions.append(Question(trace_id, None, has_kinds=False, span_ids=above))
        if not questions:
            break
        found = state.settle(client, org_id, questions)
        for question, more in zip(questions, found, strict=True):
            settled[question.trace_id].known |= more.known
    return settled


def _span_ids(items: list[Item]) -> set[str]:
    """Returns the spans of a trace that its records need to know."""
    ids = {item.record.span_id for item in items}
    ids.update(item.record.parent_id for item in items if isinstance(item.record, Span))
    return ids - {""}


def _outcome(items: list[Item], settled: TraceDecision, rules: Rules, now_ms: int) -> Outcome:
    if settled.session is not None:
        return assign(items, settled.session, settled.known, rules, now_ms)
    outcome = Outcome()
    for item in items:
        outcome.wait(item, rules.session_wait_ms)
    return outcome


def _output(
    writer: Writer,
    intake: Intake,
    settled: Mapping[str, TraceDecision],
    outcomes: Mapping[str, Outcome],
) -> Mapping[bool, Output]:
    """Makes the events of everything that was assigned, by whether their sessions have names."""
    output = {True: Output(), False: Output()}
    for trace_id, outcome in outcomes.items():
        session = settled[trace_id].session
        if session is not None and outcome.assigned:
            announced = writer.write(outcome.assigned, output[session.is_named])
            for span_id, arrival in announced.items():
                outcome.learned[span_id].announced = arrival
        for item in outcome.dropped:
            writer.counts.not_stored(item, "span of another kind (otel.other_spans)")
    single = []
    for item in intake.alone:
        assigned = assign_alone(item)
        if assigned is None:
            writer.counts.not_stored(item, "log record of no trace and no session")
        else:
            single.append(assigned)
    writer.write(single, output[True])
    return output


def _write_decisions(
    pipe: Pipeline,
    org_id: str,
    intake: Intake,
    settled: Mapping[str, TraceDecision],
    outcomes: Mapping[str, Outcome],
    counts: Counts,
) -> None:
    learned = {trace_id: one.learned for trace_id, one in outcomes.items() if one.learned}
    state.learn(pipe, org_id, learned)
    for trace_id, items in intake.traces.items():
        one = settled[trace_id]
        if one.session and not one.has_conflict and has_other_name(items, one.session):
            state.note_conflict(pipe, org_id, trace_id)
            counts.add(items[0], {"session_conflicts": 1})


def _write_what_waits(
    pipe: Pipeline, org_id: str, intake: Intake, outcomes: Mapping[str, Outcome]
) -> None:
    changes: dict[int, Changes] = {}
    for trace_id, outcome in outcomes.items():
        shard = intake.shards[trace_id]
        if shard not in changes:
            changes[shard] = Changes(org_id, intake.org_slug, shard)
        if outcome.waiting:
            changes[shard].keep(trace_id, outcome.waiting, outcome.due_ms)
        elif trace_id in intake.was_waiting:
            changes[shard].forget(trace_id)
    for change in changes.values():
        change.write(pipe)


def _bury(pipe: Pipeline, org_id: str, intake: Intake, writer: Writer) -> None:
    reason = "the record cannot be read"
    for data in intake.unreadable:
        dead_letters.bury(pipe, org_id, intake.org_slug, data, reason)
    for one in writer.failed:
        data, mark = alone(one.sent, one.source), writer.counts.mark_of(one)
        dead_letters.bury(pipe, org_id, intake.org_slug, data, reason, mark)


def _remove(pipe: Pipeline, org_id: str, intake: Intake) -> None:
    by_shard: dict[int, list[bytes]] = {}
    for entry in intake.entries:
        by_shard.setdefault(entry.shard, []).append(entry.entry_id)
    for shard, entry_ids in by_shard.items():
        stream.remove(pipe, org_id, shard, entry_ids)
