"""Sessions that fill the context window of their model, which then cuts or refuses the rest."""

from collections.abc import Mapping

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.rewriting import merged
from shared.foundation.clickhouse.where import Where
from shared.watch.audits.signals import citing, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import magnitude, severity
from shared.watch.audits.signals.wording import counted, shown

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
    FROM events {merged}
)
GROUP BY agent, model_name
HAVING filled_sessions > 0
ORDER BY filled_sessions DESC, agent, model_name
LIMIT {{most:UInt32}}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate for each agent and model whose window the agent fills."""
    limit = THRESHOLDS[look.sensitivity]
    where = _responses(look).add("isNotNull(model)")
    where.params.update(most=reading.MAX_CANDIDATES)
    numbers = _numbers(limit)
    statement = _FILLED.format(numbers=reading.select_list(numbers), merged=merged(where))
    made = (
        _candidate(look, limit, agent_id, model, dict(zip(numbers, values, strict=True)))
        for agent_id, model, *values in reading.rows(look, statement, where.params)
    )
    return [candidate for candidate in made if candidate is not None]


def _responses(look: Look) -> Where:
    return look.where().add("event_type = 'model_response'").add("isNotNull(context_fill)")


def _numbers(limit: float) -> dict[str, str]:
    # The threshold is one of three constants, so the statement may contain it.
    return {
        "sessions": "uniqExact(session_id)",
        "filled_sessions": f"uniqExactIf(session_id, context_fill >= {limit})",
        "filled_responses": f"countIf(context_fill >= {limit})",
        "sessions_at_limit": f"uniqExactIf(session_id, context_fill >= {_LIMIT})",
        "highest_fill": "round(max(context_fill), 6)",
    }


def _candidate(
    look: Look, limit: float, agent_id: str, model: str, numbers: Mapping[str, float | int]
) -> Candidate | None:
    where = _responses(look).add(
        "agent_id = {agent:String} AND model = {model:String}", agent=agent_id, model=model
    )
    where.add("context_fill >= {limit:Float64}", limit=limit)
    cited = citing.cited(look, where)
    if cited is None:
        return None
    agent, its_model = shown(agent_id), shown(model)
    sessions, at_limit = numbers["sessions"], numbers["sessions_at_limit"]
    highest = numbers["highest_fill"]
    return Candidate(
        signal="context_pressure",
        key=(agent_id, model),
        title=f"The agent {agent} fills the context window of {its_model}",
        category="capacity",
        failure_type="context_nearly_full",
        kind="improvement",
        severity=severity(
            critical=at_limit >= max(_CRITICAL_SESSIONS, _CRITICAL_SHARE * sessions),
            warning=highest >= 0.9,
        ),
        magnitude=magnitude(numbers["filled_sessions"] / sessions),
        description=(
            f"{counted(cited.affected_sessions, 'session')} of {sessions:,} of the agent"
            f" {agent} filled {limit:.0%} or more of the context window of {its_model}; the fullest"
            f" response reached {highest:.0%}."
        ),
        **cited._asdict(),
        numbers=numbers,
        queries=_queries(look, limit, agent_id, model),
        recommendation="Send less context: summarise earlier turns, and cut long tool outputs.",
        scope={"agent_ids": (agent,), "models": (its_model,)},
    )


def _queries(look: Look, limit: float, agent_id: str, model: str) -> tuple[EvidenceQuery, ...]:
    of_it = (
        f"{sql.where(look)} AND event_type = 'model_response' AND isNotNull(context_fill)"
        f" AND {literals.is_text('agent_id', agent_id)} AND {literals.is_text('model', model)}"
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
