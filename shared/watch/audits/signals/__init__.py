"""The signals of audits: deterministic functions, one module each, all listed in `SIGNALS`."""

from shared.watch.audits.signals import (
    abandoned_session,
    context_pressure,
    error_cluster,
    error_drift,
    evaluation_gap,
    goal_failure,
    latency_drift,
    leaked_credential,
    score_drift,
    token_outlier,
    tool_failure,
    tool_loop,
)
from shared.watch.audits.signals.interface import Find

# One row per signal, in the order in which an audit runs them. To add a signal, add a module and a
# row.
SIGNALS: dict[str, Find] = {
    "error_cluster": error_cluster.find,
    "tool_failure": tool_failure.find,
    "latency_drift": latency_drift.find,
    "error_drift": error_drift.find,
    "score_drift": score_drift.find,
    "goal_failure": goal_failure.find,
    "abandoned_session": abandoned_session.find,
    "tool_loop": tool_loop.find,
    "context_pressure": context_pressure.find,
    "token_outlier": token_outlier.find,
    "leaked_credential": leaked_credential.find,
    "evaluation_gap": evaluation_gap.find,
}

# The names that an audit's `signals` accepts.
NAMES = tuple(SIGNALS)
