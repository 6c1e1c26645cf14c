"""The stored events of traces, compared with the ledger of a kill run."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from clickhouse_driver import Client

from bench.storm.checks import SENT
from bench.storm.otlp.ledger import Marked, Trace, name_of

_SHOWN = 3

_EVENTS = f"""
SELECT
    trace_id,
    groupUniqArray(session_id) AS sessions,
    groupArray((span_id, event_type, mark)) AS events
FROM (
    SELECT
        JSONExtractString(payload, 'otel', 'trace_id') AS trace_id,
        JSONExtractString(payload, 'otel', 'span_id') AS span_id,
        session_id,
        event_type,
        extract(payload, 'mark-[0-9a-f]{{16}}-(?:open|done)') AS mark
    FROM events FINAL WHERE {SENT}
)
GROUP BY trace_id
"""
_SESSIONS = f"SELECT session_id, count() FROM events FINAL WHERE {SENT} GROUP BY session_id"

Stored = dict[int, Counter[Marked]]


def stored_sessions(clickhouse: Client) -> dict[str, int]:
    """Returns the number of events of each session."""
    return dict(clickhouse.execute(_SESSIONS))


def trace_problems(clickhouse: Client, traces: Mapping[str, Trace]) -> Iterator[str]:
    """Yields what was lost, doubled, split or changed."""
    wrong: dict[str, list[str]] = {}
    stored: dict[str, Stored] = {}
    for trace_id, sessions, events in clickhouse.execute(_EVENTS):
        spans = stored.setdefault(trace_id, {})
        for span_id, kind, mark in events:
            spans.setdefault(int(span_id or "0", 16), Counter())[kind, mark] += 1
        trace = traces.get(trace_id)
        if trace is None:
            wrong.setdefault("traces were never sent", []).append(trace_id)
        elif len(sessions) > 1:
            wrong.setdefault("traces are SPLIT", []).append(f"{trace_id} in {sorted(sessions)}")
        elif not trace.sessions(trace_id) >= set(sessions):
            wrong.setdefault("traces are in another session", []).append(trace_id)
    for trace_id, trace in traces.items():
        for span_id, verdict in _span_problems(trace, stored.get(trace_id, {})):
            wrong.setdefault(verdict, []).append(name_of(trace_id, span_id))
    for verdict, names in sorted(wrong.items()):
        yield f"{len(names)} {verdict}, as {', '.join(islice(names, _SHOWN))}"


def _span_problems(trace: Trace, stored: Stored) -> Iterator[tuple[int, str]]:
    for span_id in stored.keys() - trace.spans.keys():
        yield span_id, "spans were never sent"
    for span_id, sent in trace.spans.items():
        events = stored.get(span_id, Counter())
        if not sent.types and events:
            yield span_id, "rejected spans are stored"
        elif max(events.values(), default=0) > 1:
            yield span_id, "spans are DOUBLED"
        elif frozenset(events) not in sent.allowed(span_id):
            lost = not any(frozenset(events) >= one for one in sent.allowed(span_id))
            yield span_id, "answered spans are LOST" if lost else "spans have other events"
