"""The output of the demonstration: scores by agent, other figures, and the checks."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from rich.console import Console
from rich.table import Table

from devstack.up.checks import Check
from devstack.up.dashboard import NAME, Board
from devstack.up.demo import Played
from devstack.up.figures import Figures
from devstack.up.oversight import Oversight
from devstack.up.trace import Trace

_MOST_SCORES = 6
_MOST_TOOLS = 3
_MOST_REASONS = 3


def print_scores(console: Console, played: Played) -> None:
    """Prints a line for each agent: its evaluated sessions and the mean of each score."""
    by_agent: dict[str, list[dict[str, float]]] = defaultdict(list)
    for row in (one for one in played.evaluations if one["status"] == "done"):
        by_agent[row["agent_id"]].append(row["scores"] or {})
    names = sorted({name for rows in by_agent.values() for scores in rows for name in scores})
    table = Table(title="Mean scores by agent")
    table.add_column("agent", no_wrap=True)
    table.add_column("evaluated", justify="right")
    for name in names[:_MOST_SCORES]:
        table.add_column(name.replace("_", " "), justify="right", overflow="fold")
    for agent_id, rows in sorted(by_agent.items()):
        table.add_row(agent_id, str(len(rows)), *(_mean(rows, n) for n in names[:_MOST_SCORES]))
    console.print(table)
    ended = len(played.recording.ended_session_ids)
    _say(
        console,
        f"{len(played.recording.lines)} events of {len(played.recording.session_ids)} sessions; "
        f"{ended - played.failures.total()} of {ended} that ended are evaluated",
    )
    for reason, count in played.failures.most_common(_MOST_REASONS):
        _say(console, f"{count} without scores: {reason}")


def _mean(rows: Sequence[dict[str, float]], name: str) -> str:
    values = [scores[name] for scores in rows if name in scores]
    return f"{fmean(values):.2f}" if values else ""


def print_figures(console: Console, figures: Figures) -> None:
    """Prints the latency of tool calls and, queried in SQL, the tools that fail most often."""
    _say(
        console,
        f"{figures.calls} tool calls, {figures.failed} of them failed;"
        f" p50 {figures.p50_ms:.0f} ms, p95 {figures.p95_ms:.0f} ms",
    )
    if figures.tools:
        worst = [f"{name} {failed} of {n}" for name, failed, n in figures.tools[:_MOST_TOOLS]]
        _say(console, f"failed most often, by SQL: {', '.join(worst)}")


def print_oversight(console: Console, oversight: Oversight) -> None:
    """Prints the alert's incident and the number of the audit's findings by severity."""
    incident, findings = oversight.incident, oversight.findings
    if incident is not None:
        _say(console, f"incident of an alert: {incident['breach_summary']}")
    if oversight.run is not None:
        critical = sum(one["severity"] == "critical" for one in findings)
        first = f"; most urgent: {findings[0]['title']}" if findings else ""
        _say(console, f"findings of an audit: {len(findings)}, {critical} critical{first}")


def print_board(console: Console, board: Board) -> None:
    """Prints the name of the dashboard, and how many tiles it has."""
    _say(console, f"a dashboard: {NAME}, with {board.tiles} tiles")


def print_trace(console: Console, trace: Trace) -> None:
    """Prints the session of the trace that came as OpenTelemetry data."""
    _say(
        console,
        f"a trace by OTLP: {trace.spans} spans became {len(trace.event_types)} events"
        f" of session {trace.session_id}",
    )


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def print_checks(console: Console, checks: Sequence[Check]) -> bool:
    """Prints a line for each check. Returns whether all passed."""
    for check in checks:
        verdict = "ok" if check.passed else f"FAILED: {check.difference}"
        _say(console, f"{check.what} ... {verdict}")
    return all(check.passed for check in checks)
