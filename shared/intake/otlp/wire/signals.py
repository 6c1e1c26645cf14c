"""The three kinds of requests, with the words that differ between them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Signal:
    """A kind of request: its path, what it has for people, and its names in JSON.

    `groups`, `scopes` and `records` are the lists from the outside in. In protobuf their fields
    have the same numbers in all kinds. `rejected` is the field of an answer.
    """

    path: str
    noun: str
    groups: str
    scopes: str
    records: str
    rejected: str

    @property
    def belongs(self) -> str:
        """The sentence for a sender who used another path."""
        return f"the body contains {self.noun}: send it to {self.path}"


TRACES = Signal(
    path="/v1/traces",
    noun="spans",
    groups="resourceSpans",
    scopes="scopeSpans",
    records="spans",
    rejected="rejectedSpans",
)
LOGS = Signal(
    path="/v1/logs",
    noun="log records",
    groups="resourceLogs",
    scopes="scopeLogs",
    records="logRecords",
    rejected="rejectedLogRecords",
)
METRICS = Signal(
    path="/v1/metrics",
    noun="metrics",
    groups="resourceMetrics",
    scopes="scopeMetrics",
    records="metrics",
    rejected="rejectedDataPoints",
)
SIGNALS = (TRACES, LOGS, METRICS)
