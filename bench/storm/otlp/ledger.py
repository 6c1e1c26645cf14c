"""The spans that exporters sent, and which of them were answered with success."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id, format_trace_id

from bench.storm.otlp.agents import OPERATION, PENDING_TYPE, SESSION, mark

# Not sent; sent without a success; answered with success.
State = Literal[0, 1, 2]
UNSENT: State = 0
UNSURE: State = 1
ANSWERED: State = 2

_OUTCOMES = {UNSENT: "not sent", UNSURE: "given up", ANSWERED: "answered"}

# An event as the check sees it: its type and its mark.
Marked = tuple[str, str]

_TYPES = {
    "invoke_agent": ("agent_start", "agent_end"),
    "chat": ("model_request", "model_response"),
    "execute_tool": ("tool_use", "tool_result"),
    "task": ("span",),
}


@dataclass(slots=True)
class Sent:
    """A span, and how it and its pending span were answered. Without `types` it is a bad one."""

    types: tuple[str, ...] = ()
    has_error: bool = False
    finished: State = UNSENT
    announced: State = UNSENT

    def allowed(self, span_id: int) -> list[frozenset[Marked]]:
        """Returns the sets of events any one of which may be stored."""
        if not self.types:
            return [frozenset()]
        done, types = mark(span_id, "done"), self.types + ("error",) * self.has_error
        whole = frozenset((name, done) for name in types)
        if self.finished == ANSWERED:
            return [whole]
        found = [whole] if self.finished else []
        if self.announced:
            found.append(frozenset([(self.types[0], mark(span_id, "open"))]))
        return found if self.announced == ANSWERED else [*found, frozenset()]


@dataclass(slots=True)
class Trace:
    """The spans of a trace by id, the sessions that they name, and whether all of them do."""

    spans: dict[int, Sent] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    all_named: bool = True

    def sessions(self, trace_id: str) -> set[str]:
        """Returns the sessions any one of which the trace may be in."""
        return self.names if self.names and self.all_named else self.names | {trace_id}


class Ledger:
    """The sent spans, by trace. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._traces: dict[int, Trace] = {}
        self.answers: Counter[str] = Counter()

    def note(self, way: str, spans: Sequence[ReadableSpan], *, success: bool) -> None:
        """Notes a request, which was answered with success or was given up."""
        state = ANSWERED if success else UNSURE
        with self._lock:
            self.answers[f"{way} {'answered' if success else 'given up'}"] += 1
            for span in spans:
                self._note(span, state)

    def count(self, what: str) -> None:
        """Counts something else."""
        with self._lock:
            self.answers[what] += 1

    def traces(self) -> Mapping[str, Trace]:
        """Returns all traces by id."""
        return {format_trace_id(number): trace for number, trace in self._traces.items()}

    def totals(self) -> Counter[str]:
        """Returns the numbers of spans by what became of them."""
        found: Counter[str] = Counter()
        for trace in self._traces.values():
            for sent in trace.spans.values():
                kind = "spans" if sent.types else "bad spans"
                found[f"{kind} {_OUTCOMES[sent.finished]}"] += 1
                found["spans announced"] += sent.announced == ANSWERED
        return found

    def _note(self, span: ReadableSpan, state: State) -> None:
        attributes, context = span.attributes or {}, span.get_span_context()
        assert context is not None  # noqa: S101 every span has one
        trace = self._traces.setdefault(context.trace_id, Trace())
        is_pending = PENDING_TYPE in attributes and span.parent is not None
        span_id = span.parent.span_id if is_pending and span.parent else context.span_id
        sent = trace.spans.setdefault(span_id, Sent())
        operation, session = attributes.get(OPERATION), attributes.get(SESSION)
        sent.types = _TYPES.get(str(operation), ())
        if sent.types and session is None:
            trace.all_named = False
        elif session is not None:
            trace.names.add(str(session))
        if is_pending:
            sent.announced = max(sent.announced, state)
        else:
            sent.finished = max(sent.finished, state)
            sent.has_error = bool(span.events)


def name_of(trace_id: str, span_id: int) -> str:
    """Returns the name of a span in messages."""
    return f"{trace_id}/{format_span_id(span_id)}"
