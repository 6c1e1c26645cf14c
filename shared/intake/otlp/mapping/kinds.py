"""The kind of a span, and the rules that depend on the spans above it."""

from functools import lru_cache
from re import Pattern
from re import compile as compile_pattern

from msgspec import structs

from shared.intake.otlp.mapping.naming import own_agent, tool_name
from shared.intake.otlp.mapping.tables import (
    KIND_COLUMNS,
    KIND_SIGNS,
    PENDING,
    PENDING_PARENT,
    PENDING_TYPE,
    Kind,
)
from shared.intake.otlp.records import Span

# Longer words are no kinds; what is remembered must stay small.
_MAX_WORD = 64
_NO_PARENT = "0" * 16


def kind_of(span: Span) -> Kind:
    """Returns the kind that a span's attributes tell."""
    attributes = span.attributes
    for column in KIND_COLUMNS:
        word = attributes.get(column)
        if word and type(word) is str:
            return _kind_of_word(column, word[:_MAX_WORD].lower())
    for key, wanted, kind in KIND_SIGNS:
        value = attributes.get(key)
        if value if wanted is None else value == wanted:
            return kind
    return "other"


def word_of(span: Span) -> str | None:
    """Returns the sender's own word for the kind of a span, if there is one."""
    for column in KIND_COLUMNS:
        word = span.attributes.get(column)
        if word and type(word) is str:
            return word[:_MAX_WORD]
    return None


def is_root_agent(span: Span, kind: Kind, trace_is_known: bool) -> bool:
    """Returns whether an `other` span is the agent span of its trace, of the agent of its service.

    `trace_is_known`: the trace has the name of a session, or a span of another kind.
    """
    return kind == "other" and not span.parent_id and trace_is_known


def same_thing(span: Span, kind: Kind) -> str:
    """Returns a text that two spans share if they report the same call.

    If the next span above, `other` ones skipped, has the same text, then the inner one is stored as
    `span`, so that a call that two packages report counts once.
    """
    if kind == "model":
        return kind
    if kind == "agent":
        return f"{kind} {own_agent(span, kind)}"
    if kind in ("tool", "retrieval"):
        return f"{kind} {tool_name(span)}"
    return f"{kind} {span.span_id}"


def real_span(span: Span) -> Span | None:
    """Returns the span that a pending span announces; None if it is an ordinary span."""
    attributes = span.attributes
    if attributes.get(PENDING_TYPE) != PENDING or not span.parent_id:
        return None
    parent = attributes.get(PENDING_PARENT)
    known = type(parent) is str and len(parent) == len(_NO_PARENT) and parent != _NO_PARENT
    return structs.replace(
        span, span_id=span.parent_id, parent_id=str(parent).lower() if known else ""
    )


@lru_cache(maxsize=1024)
def _kind_of_word(column: str, word: str) -> Kind:
    for kind, wanted, unwanted in _PATTERNS[column]:
        if any(p.fullmatch(word) for p in wanted) and not any(p.fullmatch(word) for p in unwanted):
            return kind
    return "other"


def _pattern(text: str) -> Pattern[str]:
    return compile_pattern(".*".join(part.replace(".", r"\.") for part in text.lower().split("*")))


_PATTERNS: dict[str, list[tuple[Kind, list[Pattern[str]], list[Pattern[str]]]]] = {
    column: [
        (
            kind,
            [_pattern(word) for word in words if word[0] != "!"],
            [_pattern(word[1:]) for word in words if word[0] == "!"],
        )
        for kind, words in kinds.items()
    ]
    for column, kinds in KIND_COLUMNS.items()
}
