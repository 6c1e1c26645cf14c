"""Sessions that fill the context window of their model, which then cuts or refuses the rest."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.audits.signals import reading, sql
from shared.audits.signals.interface import (
    Candidate,
    EvidenceQuery,
    Look,
    Magnitude,
    Sensitivity,
    Severity,
)
from shared.audits.signals.wording import counted, shown
from shared.clickhouse.where import Where

SIGNAL = "context_pressure"

# The share of the window from which a response counts. Models get worse long before they refuse,
# and the output of one long answer takes a tenth of many windows.
THRESHOLDS: Mapping[Sensitivity, float] = {"low": 0.9, "medium": 0.8, "high": 0.7}
# An agent that hits the limit in a quarter of its sessions, and in at least ten, no longer works.
_LIMIT, _CRITICAL_SHARE, _CRITICAL_SESSIONS = 0.98, 0.25, 10

_FILLED = """
SELECT agent, model_name, {numbers}
FROM (
    SELECT CAST(agent_id, 'String') AS agent, CAST(assumeNotNull(model), 'String') AS model_name,
        session_id, context_fill
    FROM events FINAL
    PREWHERE {where} AND isNotNull(model)
)
GROUP BY agent, model_name
HAVING filled_sessions > 0
ORDER BY filled_sessions DESC, agent, model_name
LIMIT {{most:UInt32}}
"""


@dataclass(frozen=True)
class _Filled:
    agent_id: str
    model: str
    numbers: Mapping[str, float | int]

    @property
    def share(self) -> float:
        return self.numbers["filled_sessions"] / self.numbers["sessions"]


def find(look: Look) -> list[Candidate]:
    """Returns a candidate for each agent and model whose window the agent fills."""
    limit = THRESHOLDS[look.sensitivity]
    where = _responses(look)
    where.params.update(most=reading.MAX_CANDIDATES)
    numbers = _numbers(limit)
    statement = _FILLED.format(numbers=reading.select_list(numbers), where=where)
    found = (
        _Filled(agent_id, model, dict(zip(numbers, values, strict=True)))
        for agent_id, model, *values in reading.rows(look, statement, where.params)
    )
    made = (_candidate(look, limit, filled) for filled in found)
    return [candidate for candidate in made if candidate is not None]


def _responses(look: Look) -> Where:
    return look.where().add("event_type = 'model_response' AND isNotNull(context_fill)")


def _numbers(limit: float) -> dict[str, str]:
    # The threshold is one of three constants, so the statement may contain it.
    return {
        "sessions": "uniqExact(session_id)",
        "filled_sessions": f"uniqExactIf(session_id, context_fill >= {limit})",
        "filled_responses": f"countIf(context_fill >= {limit})",
        "sessions_at_limit": f"uniqExactIf(session_id, context_fill >= {_LIMIT})",
        "highest_fill": "round(max(context_fill), 6)",
    }


def _candidate(look: Look, limit: float, filled: _Filled) -> Candidate | None:
    where = _responses(look).add(
        "agent_id = {agent:String} AND model = {model:String} AND context_fill >= {limit:Float64}",
        agent=filled.agent_id,
        model=filled.model,
        limit=limit,
    )
    cited = reading.cited(look, where)
    if cited is None:
        return None
    agent, model = shown(filled.agent_id), shown(filled.model)
    return Candidate(
        signal=SIGNAL,
        key=(filled.agent_id, filled.model),
        title=f"The agent {agent} fills the context window of {model}",
        category="capacity",
        failure_type="context_nearly_full",
        kind="improvement",
        severity=_severity(filled),
        magnitude=_magnitude(filled.share),
        affected_sessions=cited.sessions,
        first_seen_at=cited.first_seen_at,
        last_seen_at=cited.last_seen_at,
        description=(
            f"{counted(cited.sessions, 'session')} of {filled.numbers['sessions']:,} of the agent"
            f" {agent} filled {limit:.0%} or more of the context window of {model}; the fullest"
            f" response reached {filled.numbers['highest_fill']:.0%}."
        ),
        session_ids=cited.session_ids,
        event_ids=cited.event_ids,
        numbers=filled.numbers,
        queries=_queries(look, limit, filled),
        recommendation=("Send less context: summarise earlier turns, and cut long tool outputs."),
        scope={"agent_ids": (agent,), "models": (model,)},
    )


def _severity(filled: _Filled) -> Severity:
    at_limit = filled.numbers["sessions_at_limit"]
    if at_limit >= _CRITICAL_SESSIONS and at_limit >= (
        _CRITICAL_SHARE * filled.numbers["sessions"]
    ):
        return "critical"
    return "warning" if filled.numbers["highest_fill"] >= 0.9 else "info"


def _magnitude(share: float) -> Magnitude:
    if share < 0.05:
        return "small"
    return "medium" if share < 0.2 else "big"


def _queries(look: Look, limit: float, filled: _Filled) -> tuple[EvidenceQuery, ...]:
    of_it = (
        f"{sql.where(look)} AND event_type = 'model_response' AND isNotNull(context_fill)"
        f" AND {sql.is_text('agent_id', filled.agent_id)} AND {sql.is_text('model', filled.model)}"
    )
    numbers = reading.select_list(_numbers(limit))
    return (
        EvidenceQuery("Fill of the context window", f"SELECT {numbers} FROM events WHERE {of_it}"),
        EvidenceQuery(
            "Sessions that filled the context window",
            "SELECT session_id, max(context_fill) AS highest_fill, max(context_window) AS window,"
            f" max(ts) AS last FROM events WHERE {of_it} AND context_fill >= {limit}"
            " GROUP BY session_id ORDER BY highest_fill DESC, last DESC LIMIT 100",
        ),
    )
