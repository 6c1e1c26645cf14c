"""Traces for tests of the assignment: short ids, and what becomes of each span."""

from typing import Any

from shared.intake.otlp.assignment.assign import Outcome, Rules, assign
from shared.intake.otlp.assignment.chains import SpanMemory
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.sessions import Session
from shared.intake.otlp.records import LogRecord, Records, Resource, Scope, Span
from tests.support.otlp_spans import log, span

RULES = Rules("in_agent_traces", 5000)
NAMED = Session("turns", is_named=True, has_kinds=True)
UNNAMED = Session("0a" * 16, is_named=False, has_kinds=False)
KINDS = {
    "agent": "invoke_agent",
    "model": "chat",
    "tool": "execute_tool",
    "retrieval": "retrieval",
    "other": "task",
}


def a_span(name: str, parent: str = "", kind: str = "other", **attributes: Any) -> Span:
    """A span whose id is made of `name`; `__` in names of attributes stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return span(
        {"gen_ai.operation.name": KINDS[kind], **named},
        name=name,
        span_id=id_of(name),
        parent_id=id_of(parent) if parent else "",
    )


def pending(of: Span, **attributes: Any) -> Span:
    """The pending span that announces a span."""
    announced = {
        **of.attributes,
        "logfire.span_type": "pending_span",
        "logfire.pending_parent_id": of.parent_id or "0" * 16,
        **attributes,
    }
    return span(announced, name=of.name, span_id="f" + of.span_id[1:], parent_id=of.span_id)


def a_log(of: str = "", **attributes: Any) -> LogRecord:
    """A log record of a span."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return log(named, span_id=id_of(of) if of else "")


def id_of(name: str) -> str:
    """The id of the span with this name."""
    return name.encode().hex().rjust(16, "0")[-16:]


def items_of(*records: Span | LogRecord, service: str = "shop", since_ms: int = 0) -> list[Item]:
    """The records as the assignment reads them, received together."""
    resource = Resource({"service.name": service})
    spans = [one for one in records if isinstance(one, Span)]
    logs = [one for one in records if isinstance(one, LogRecord)]
    source = Records(since_ms, [resource], [Scope("tests", "1", {})], spans, logs)
    return [Item(record, source, since_ms) for record in records]


def assigned(
    *records: Span | LogRecord,
    session: Session = NAMED,
    known: dict[str, SpanMemory] | None = None,
    now_ms: int = 0,
    rules: Rules = RULES,
) -> Outcome:
    """Assigns records that were received at 0."""
    return assign(items_of(*records), session, known or {}, rules, now_ms)


def agents(outcome: Outcome) -> dict[str, str]:
    """The agents of what was assigned, by name."""
    return {name_of(one.item): one.assignment.agent_id for one in outcome.assigned}


def roles(outcome: Outcome) -> dict[str, str]:
    """The roles of what was assigned, by name."""
    return {name_of(one.item): one.assignment.role for one in outcome.assigned}


def waiting(outcome: Outcome) -> set[str]:
    """The names of what waits."""
    return {name_of(item) for item in outcome.waiting}


def name_of(item: Item) -> str:
    """The name of a span, or `log`."""
    return item.record.name if isinstance(item.record, Span) else "log"
