"""The figures that benchmarks measure, each with its unit and the bar that it must reach.

`measure` of a benchmark returns a dict from the name of a figure to its value. The table here has
everything else about the figure, so that all bars can be read in one place.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Better = Literal["more", "less"]


@dataclass(frozen=True)
class Figure:
    """One measured number. `bar` is the value to reach, or None for orientation only."""

    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    better: Better = "more"

    @property
    def is_reached(self) -> bool | None:
        """Whether the value reaches the bar; None without a bar."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.better == "more" else self.value <= self.bar


@dataclass(frozen=True)
class Kind:
    """A row of the table: the unit of a figure, its bar and the better direction."""

    unit: str = ""
    bar: float | None = None
    better: Better = "more"


KINDS: dict[str, Kind] = {
    "alerts.done": Kind("of 1 due", 0.99),
    "alerts.lag_p95": Kind("s", 5, "less"),
    "alerts.lag_*": Kind("s", None, "less"),
    "alerts.cores_*": Kind("cores", None, "less"),
    "alerts.accepted": Kind("events/s"),
    "alerts.refused": Kind("batches", 0, "less"),
    "budgets.late_most": Kind("s", 35, "less"),
    "budgets.late_p50": Kind("s", None, "less"),
    "budgets.users": Kind("users"),
    "budgets.told": Kind("users"),
    "audit.run": Kind("s", 30, "less"),
    "audit.clickhouse": Kind("s of a core", None, "less"),
    "audit.worker": Kind("MB", 500, "less"),
    # What counting the round trips by counters of the stores may add.
    "auth.*_redis": Kind("round trips", 1.05, "less"),
    "auth.*_postgres": Kind("round trips", 0.05, "less"),
    "auth.*_ratio": Kind("times", None, "less"),
    "backup.files": Kind("MB", None, "less"),
    "backup.*_time": Kind("s", None, "less"),
    "backup.*_memory": Kind("MB", 300, "less"),
    "burst.accepted": Kind("events/s"),
    "burst.stored": Kind("events/s"),
    "burst.offered_to_stored": Kind("times", None, "less"),
    "burst.refused": Kind("batches"),
    "burst.other_answers": Kind("answers", 0, "less"),
    "burst.processes_ended": Kind("processes", 0, "less"),
    "burst.events_missing": Kind("events", 0, "less"),
    "burst.backlog_empty_after": Kind("s", None, "less"),
    "burst.sessions_p50": Kind("ms", None, "less"),
    "burst.sessions_p99": Kind("ms", 500, "less"),
    "burst.events_p50": Kind("ms", None, "less"),
    "burst.events_p99": Kind("ms", None, "less"),
    "burst.reads": Kind("answers"),
    "burst.reads_failed": Kind("answers", 0, "less"),
    "canary.*": Kind("s", 90, "less"),
    "cost.*idle": Kind("% of a core", None, "less"),
    "cost.*": Kind("µs", None, "less"),
    "disk.event": Kind("bytes", 25, "less"),
    "disk.memory_*": Kind("MB", None, "less"),
    "disk.redis": Kind("MB", None, "less"),
    "faults.recall": Kind("", 0.95),
    "faults.precision": Kind("", 0.9),
    "first_session.*": Kind("s", None, "less"),
    "imports.*_rate": Kind("events/s"),
    "imports.*_cost": Kind("µs", None, "less"),
    "mcp.*": Kind("MB", None, "less"),
    "otlp.to_events": Kind("times", 0.5),
    # The same by processor time, which other work on the machine hardly changes.
    "otlp.to_events_cost": Kind("times", 0.5),
    "otlp.http_queryable": Kind("spans/s"),
    "otlp.grpc_queryable": Kind("spans/s"),
    "otlp.events_queryable": Kind("events/s"),
    "otlp.http_cost": Kind("µs", None, "less"),
    "otlp.grpc_cost": Kind("µs", None, "less"),
    "otlp.events_cost": Kind("µs", None, "less"),
    "otlp_steps.*": Kind("µs", None, "less"),
    "previews.*": Kind("ms", None, "less"),
    "receipts.*": Kind("µs", None, "less"),
    "redaction.*_ratio": Kind("times", None, "less"),
    "redaction.*_more": Kind("µs", None, "less"),
    "steps.*": Kind("µs", None, "less"),
    "traces.*": Kind("µs", None, "less"),
    "check.accepted_to_raw": Kind("times"),
    "check.queryable_to_raw": Kind("times"),
    # Evaluations for each thousand decoded events.
    "check.evaluations_to_decoded": Kind("times"),
    "start.ready": Kind("s", 8, "less"),
    "start.ready_again": Kind("s", 8, "less"),
    "start.readable": Kind("s", None, "less"),
    "idle.cpu": Kind("% of a core", 8, "less"),
    "idle.pss": Kind("MB", 700, "less"),
    "idle.worker_pss": Kind("MB", 350, "less"),
    "idle.*_cpu": Kind("% of a core", None, "less"),
    "idle.*_pss": Kind("MB", None, "less"),
    "evaluations.per_s": Kind("1/s", 100),
    "evaluations.cpu_ms": Kind("ms", 12, "less"),
    "evaluations_slow.busy": Kind("share", 0.9),
    "evaluations_waiting.per_s": Kind("1/s", 60),
    "outline.whole_p50": Kind("ms", None, "less"),
    "outline.whole_p95": Kind("ms", 400, "less"),
    "outline.bytes": Kind("bytes", 1_700_000, "less"),
    "outline.gzip_bytes": Kind("bytes", 400_000, "less"),
    "lateness.*_p50": Kind("ms", None, "less"),
    "lateness.*_most": Kind("ms", None, "less"),
    "lateness.polls_p95": Kind("ms", 200, "less"),
    "lateness.retries_p95": Kind("ms", 200, "less"),
    "lateness.alerts_p95": Kind("ms", 200, "less"),
    "ingest.accepted_to_raw": Kind("times", 0.75),
    "ingest.queryable_to_raw": Kind("times", 0.35),
    "ingest.post_p99_half_queryable": Kind("ms", 100, "less"),
    "ingest.post_p99_half_accepted": Kind("ms", None, "less"),
    "ingest.single_p50": Kind("ms", None, "less"),
    "ingest.single_p95": Kind("ms", 300, "less"),
    "ingest_busy.accepted_to_raw": Kind("times", 0.25),
    "ingest_busy.queryable_to_raw": Kind("times", 0.25),
    "ingest_busy.post_p99_half_queryable": Kind("ms", None, "less"),
    "ingest_busy.post_p99_half_accepted": Kind("ms", None, "less"),
    "ingest_busy.single_p50": Kind("ms", None, "less"),
    "ingest_busy.single_p95": Kind("ms", None, "less"),
}
# Why the other benchmarks have none.
WITHOUT_BAR: dict[str, str] = {
    "cost": "It splits the time of `ingest`, which has the bars.",
    "steps": "It splits the time of `cost`.",
    "otlp_steps": "It splits the time of `otlp`, which has the bar.",
    "first_session": "Most of it is pip, which is not ours.",
    "imports": "Nothing waits for an import; its requests have bounds in size.",
    "previews": "A preview ends after a bound in time, and says so.",
    "receipts": "It is a part of the time of `ingest`.",
    "redaction": "Only those pay who list keys.",
    "traces": "Only those pay who switch traces on.",
}

# Reads of a page or a session must not grow with the data, and neither may those of aggregates.
_READS = (
    *("newest", "summaries", "session", "rare_tool", "sessions", "sessions_by_result", "export"),
    *("sessions_by_cost", "events_of_user", "sessions_of_user", "values"),
    *("facet_cached", "facet", "evaluations", "latency", "query"),
    *("costs", "costs_cached"),
)
KINDS |= {
    f"outline.{name}_{part}": Kind("ms", None, "less")
    for name in ("around", "since", "search")
    for part in ("p50", "p95")
}
KINDS |= {f"read.{name}_growth": Kind("times", 1.5, "less") for name in _READS}
KINDS |= {f"read.{name}_to_bare": Kind("times", 3, "less") for name in _READS}
KINDS |= {
    f"{area}.{name}_{part}": Kind("ms", None, "less")
    for area in ("read", "read_live")
    for name in _READS
    for part in ("p50", "p95")
}
_BARS_MS = {
    "sessions_by_cost": 800,
    "events_of_user": 60,
    "values": 150,
    "costs": 1000,
    "costs_cached": 5,
}
for _name, _ms in _BARS_MS.items():
    KINDS[f"read.{_name}_p50"] = Kind("ms", _ms, "less")
for _name in ("newest", "session", "sessions", "facet"):
    KINDS[f"read_live.{_name}_p50"] = Kind("ms", 20, "less")
    KINDS[f"read_live.{_name}_p95"] = Kind("ms", 50, "less")
for _name in ("evaluations", "latency"):
    KINDS[f"read_live.{_name}_p95"] = Kind("ms", 150, "less")


def figures_of(values: Mapping[str, float]) -> list[Figure]:
    """Returns the figures of measured values. A name without a row has neither unit nor bar."""
    found = []
    for name, value in values.items():
        kind = kind_of(name)
        found.append(Figure(name, value, kind.unit, kind.bar, kind.better))
    return found


def kind_of(name: str) -> Kind:
    """Returns the row of a figure: of its name, or of the first pattern that matches."""
    patterns = (kind for pattern, kind in KINDS.items() if fnmatchcase(name, pattern))
    return KINDS.get(name) or next(patterns, Kind())


def percentile(values: Sequence[float], percent: int) -> float:
    """Returns a percentile from 1 to 99, or infinity when nothing was measured."""
    if len(values) < 2:
        return values[0] if values else float("inf")
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def lines_of(figures: Sequence[Figure]) -> list[str]:
    """Returns a line of text for each figure: name, value, unit, bar and verdict."""
    width = max((len(figure.name) for figure in figures), default=0)
    return [
        f"{figure.name:{width}}  {shown(figure.value):>12} {_rest(figure)}" for figure in figures
    ]


def shown(value: float) -> str:
    """Returns a value with as many digits as count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"


def bar_of(figure: Figure) -> str:
    """Returns the bar as text, empty without one."""
    if figure.bar is None:
        return ""
    return f"{'≥' if figure.better == 'more' else '≤'} {shown(figure.bar)}"


def _rest(figure: Figure) -> str:
    if figure.bar is None:
        return figure.unit
    verdict = "reached" if figure.is_reached else "MISSED"
    return f"{figure.unit:10} {bar_of(figure)} {verdict}"
