"""The benchmarks of `python -m bench`, each as a function from a length to values by name.

A benchmark is imported when it runs: at an earlier commit (`--at`) the others work although one of
them needs code that did not exist.
"""

from collections.abc import Callable
from typing import Literal

from bench.airline import read_events

Length = Literal["short", "usual", "long"]
Values = dict[str, float]

_MILLION, _TWO_MILLION, _TEN_MILLION = 1_000_000, 2_000_000, 10_000_000


def ingest(length: Length) -> Values:
    """Accepted and queryable events compared with a bare insert, and latencies of POST."""
    from bench.ingest import measure

    lines = read_events()
    if length == "short":
        return measure(lines, copies=3, runs=1)
    values = measure(lines)
    if length == "long":
        copies = -(-_TWO_MILLION // len(lines))
        values |= _renamed(measure(lines, copies, runs=1), "ingest", "ingest_2m")
    return values


def ingest_busy(length: Length) -> Values:
    """The same next to two processes that take as much processor time as they get."""
    from bench.ingest import measure

    runs = 1 if length == "short" else 3
    return measure(read_events(), runs=runs, busy=2)


def cost(length: Length) -> Values:
    """Processor time of an event, in microseconds, of all programs together."""
    from bench.cost import measure_programs
    from bench.deployments import deployed

    with deployed() as deployment:
        return measure_programs(deployment, read_events(), 4 if length == "short" else 16, 8)


def steps(_length: Length) -> Values:
    """Processor time of each step of web and worker for an event, alone in one process."""
    from bench.cost import measure_steps

    return measure_steps(read_events())


def otlp(length: Length) -> Values:
    """Spans over HTTP and over gRPC, next to the same events over POST /v1/events."""
    from bench.otlp import measure_ways

    return measure_ways(requests=15 if length == "short" else 60, senders=4)


def otlp_steps(_length: Length) -> Values:
    """The same for a span."""
    from bench.otlp_steps import measure

    return measure()


def disk(length: Length) -> Values:
    """The size of an event on disk, and the memory of each program after the load."""
    from bench.disk import measure

    return measure(copies=4 if length == "short" else 40, senders=8)


def evaluations(length: Length) -> Values:
    """Evaluations a second and their cost: at once, after a second, and with many that wait."""
    from bench.evaluations import measure

    is_short = length == "short"
    values = measure(400 if is_short else 2000)
    values |= measure(200 if is_short else 800, latency=1.0, workers=8)
    if length == "long":
        values |= measure(0, waiting=100_000, rate=5000)
    return values


def burst(length: Length) -> Values:
    """Reads and refusals while far more events arrive than can be stored."""
    from bench.burst import measure

    return measure(read_events(), seconds=15 if length == "short" else 60)


def idle(length: Length) -> Values:
    """The start of a deployment, its cost while it has nothing to do, and the memory of MCP."""
    from bench.idle import measure

    return measure(*((10, 10) if length == "short" else (60, 30)))


def lateness(_length: Length) -> Values:
    """The time from the moment when work is due until it begins."""
    from bench.lateness import measure

    return measure()


def outline(length: Length) -> Values:
    """The outline of a session of 13,007 events: the time until it is read, and its size."""
    from bench.outline import measure

    return measure(calls=20 if length == "short" else 100)


def read(length: Length) -> Values:
    """Reads at two sizes, next to the bare queries for the same rows."""
    from bench.read import measure

    if length == "long":
        live = measure([_TEN_MILLION], calls=100, rate=2000)
        return measure([_MILLION, _TEN_MILLION], calls=200) | live
    return measure([_MILLION // 10, _MILLION], calls=20 if length == "short" else 100)


def imports(length: Length) -> Values:
    """Events a second out of transcripts, in one process and over HTTP."""
    from bench.imports import measure

    return measure(files=4 if length == "short" else 20)


def first_session(length: Length) -> Values:
    """The time from the collector's wheel to the first session that can be read."""
    from bench.first_session import measure

    return measure(runs=1 if length == "short" else 3)


def backup(length: Length) -> Values:
    """Seconds, megabytes and memory of a backup and what restores it."""
    from bench.backup import measure

    return measure(100_000 if length == "short" else _MILLION)


def canary(length: Length) -> Values:
    """The time until /ready names a part that fails, and until it is green again."""
    from bench.canary import measure

    return measure(interval=5.0 if length == "short" else 60.0)


def auth(length: Length) -> Values:
    """The cost of knowing the caller: next to a route without, and in round trips."""
    from bench.auth import measure

    return measure(runs=1 if length == "short" else 5)


def traces(length: Length) -> Values:
    """Processor time of a request with traces off, and on."""
    from bench.traces import measure

    return measure(*((100, 1) if length == "short" else (500, 5)))


def redaction(length: Length) -> Values:
    """The cost of listed keys while events are decoded."""
    from bench.redaction import measure

    return measure(runs=1 if length == "short" else 9)


def receipts(length: Length) -> Values:
    """The cost of the receipt of a request."""
    from bench.receipts import measure

    return measure(posts=500 if length == "short" else 3000)


def alerts(length: Length) -> Values:
    """How late 10,000 rules are evaluated while events come in."""
    from bench.alerts import measure

    return measure(seconds={"short": 30, "usual": 120, "long": 300}[length], statements=10)


def budgets(length: Length) -> Values:
    """How late the level of one of 1,000 users is told."""
    from bench.budgets import measure

    return measure(times={"short": 2, "usual": 10, "long": 30}[length])


def previews(length: Length) -> Values:
    """Previews of rules over a week of a million events."""
    from bench.previews import measure

    return measure(times=1 if length == "short" else 5)


def audit(length: Length) -> Values:
    """All signals over a week of a million events."""
    from bench.audit import measure

    return measure(_MILLION // 10 if length == "short" else _MILLION)


def faults(length: Length) -> Values:
    """Recall and precision of the signals of audits."""
    from bench.faults import measure

    return measure(range(1001, 1003 if length == "short" else 1021))


BENCHMARKS: dict[str, Callable[[Length], Values]] = {
    "ingest": ingest,
    "ingest_busy": ingest_busy,
    "cost": cost,
    "steps": steps,
    "otlp": otlp,
    "otlp_steps": otlp_steps,
    "disk": disk,
    "evaluations": evaluations,
    "burst": burst,
    "idle": idle,
    "lateness": lateness,
    "outline": outline,
    "read": read,
    "imports": imports,
    "first_session": first_session,
    "backup": backup,
    "canary": canary,
    "auth": auth,
    "traces": traces,
    "redaction": redaction,
    "receipts": receipts,
    "alerts": alerts,
    "budgets": budgets,
    "previews": previews,
    "audit": audit,
    "faults": faults,
}


def _renamed(values: Values, before: str, after: str) -> Values:
    """Returns the values with another first part of their names."""
    return {f"{after}{name.removeprefix(before)}": value for name, value in values.items()}
