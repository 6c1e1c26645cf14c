"""Records that are to be assigned, each with what is needed to decide about it."""

from shared.intake.otlp.mapping import Kind, kind_of, own_agent, real_span, same_thing, session_name
from shared.intake.otlp.mapping.tables import SESSION
from shared.intake.otlp.records import LogRecord, Records, Resource, Scope, Span


class Item:
    """A record that waits to be assigned.

    `sent` is the record as it was sent. For a pending span `record` is the span that it announces,
    else the same. `since_ms` is the time of arrival by Redis's clock. `name` is the name of a
    session with its rank; `is_named` tells whether the record itself has it and not its resource.
    `thing` is what the record reports, "" for spans of kind `other` and log records.
    """

    __slots__ = (
        "agent", "is_named", "is_pending", "kind", "name", "record", "resource", "scope", "sent",
        "since_ms", "source", "thing",
    )  # fmt: skip

    def __init__(self, sent: Span | LogRecord, source: Records, since_ms: int) -> None:
        self.sent = sent
        self.source = source
        self.since_ms = since_ms
        self.resource: Resource = source.resources[sent.resource]
        self.scope: Scope = source.scopes[sent.scope]
        self.record: Span | LogRecord = sent
        self.is_pending = False
        self.kind: Kind = "other"
        self.thing = ""
        if isinstance(sent, Span):
            real = real_span(sent)
            if real is not None:
                self.record, self.is_pending = real, True
            self.kind = kind_of(sent)
        self.agent = own_agent(self.record, self.kind)
        if isinstance(self.record, Span) and self.kind != "other":
            self.thing = same_thing(self.record, self.kind)
        self.name = session_name(sent, self.resource)
        self.is_named = self.name is not None and self.name[0] < len(SESSION)

    @property
    def is_root(self) -> bool:
        """Whether this is a span without a parent."""
        return isinstance(self.record, Span) and not self.record.parent_id

    @property
    def start_ns(self) -> int:
        """The start of a span, or the time of a log record."""
        return self.record.start_ns if isinstance(self.record, Span) else self.record.time_ns
