"""Workers that are killed at any moment lose nothing, double nothing and split no trace."""

import json
import multiprocessing
import random
import signal
from collections import Counter

import msgspec

from shared.intake.ingest import stream as events_stream
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import waiting
from shared.intake.otlp.records import Records, Span
from tests.support.assignment_desk import ROOT, Desk, model_call, of
from tests.support.assignment_worker import work
from tests.support.processes import wait_until

TRACES, CHILDREN, KILLS = 60, 4, 30
SEED = 13
# A worker sends about this many messages to Redis until it has assigned and stored something.
MESSAGES = (8, 50)


def trace(number: int) -> list[Span]:
    """A root that names its session in every second trace, and calls below it."""
    trace_id = f"{number:032x}"
    root = msgspec.structs.replace(ROOT, trace_id=trace_id)
    root.attributes = {**ROOT.attributes, "session.id": f"session {number}"}
    if number % 2:
        del root.attributes["session.id"]
    calls = (model_call(2 + child, ROOT.span_id) for child in range(CHILDREN))
    return [root, *(msgspec.structs.replace(call, trace_id=trace_id) for call in calls)]


def announced(span: Span) -> Span:
    """The pending span of a root."""
    extra = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": "0" * 16}
    return msgspec.structs.replace(
        span, span_id="ff" * 8, parent_id=span.span_id, attributes={**span.attributes, **extra}
    )


def requests(chance: random.Random) -> list[Records]:
    """The spans in random requests: children first, many of them twice, roots announced last."""
    traces = [trace(number) for number in range(TRACES)]
    children = [span for _, *calls in traces for span in calls]
    chance.shuffle(children)
    roots = [root for root, *_ in traces]
    spans = [*children, *chance.sample(children, 60), *roots, *map(announced, roots[:20])]
    cut: list[Records] = []
    while spans:
        size = chance.randint(1, 9)
        cut.append(of(*spans[:size]))
        spans = spans[size:]
    return cut


def test_kills_at_random_moments(desk: Desk) -> None:
    chance = random.Random(SEED)
    desk.choose("otel.session_wait_secs", 60)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    left = requests(chance)
    per_life = len(left) // KILLS + 1
    for _ in range(KILLS):
        for records in left[:per_life]:
            desk.send(records)
        left = left[per_life:]
        dies_at = chance.randint(*MESSAGES)
        worker = context.Process(target=work, args=(desk.runtime.settings, dies_at))
        worker.start()
        worker.join()
        assert worker.exitcode == -signal.SIGKILL
    worker = context.Process(target=work, args=(desk.runtime.settings, None))
    worker.start()
    try:
        wait_until(lambda: is_idle(desk))
    finally:
        worker.kill()
        worker.join()
    check(desk)


def is_idle(desk: Desk) -> bool:
    """Returns whether every record is assigned, and every event is stored."""
    client = desk.runtime.redis
    assigned = not stream.active(client) and waiting.next_moment(client) is None
    return assigned and events_stream.waiting(client) == 0


def check(desk: Desk) -> None:
    seen: Counter[tuple[str, str, str]] = Counter()
    sessions: dict[str, set[object]] = {}
    for session_id, _, event_type, _, _, payload in desk.events():
        otel = json.loads(str(payload))["otel"]
        seen[otel["trace_id"], otel["span_id"], str(event_type)] += 1
        sessions.setdefault(otel["trace_id"], set()).add(session_id)
    expected = {
        (span.trace_id, span.span_id, f"{kind}_{part}")
        for number in range(TRACES)
        for place, span in enumerate(trace(number))
        for kind, parts in [
            ("model", ("request", "response")) if place else ("agent", ("start", "end"))
        ]
        for part in parts
    }
    assert set(seen) == expected
    assert set(seen.values()) == {1}
    assert sessions == {
        f"{number:032x}": {f"{number:032x}" if number % 2 else f"session {number}"}
        for number in range(TRACES)
    }
