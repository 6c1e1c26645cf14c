"""Sessions that call a tool again and again with the same input.

A loop is a session, a tool and an input (as JSON, ignoring white space) with at least a minimum
number of calls. Calls without an input, or with null, do not count: otherwise collectors that send
no inputs would have loops everywhere.
"""

from collections.abc import Mapping

from shared.foundation.clickhouse import Row, literals
from shared.foundation.clickhouse.where import Where
from shared.watch.audits.signals import citing, counting, reading, sql
from shared.watch.audits.signals.interface import Candidate, EvidenceQuery, Look, Sensitivity
from shared.watch.audits.signals.weighing import magnitude, severity, share_of_sessions
from shared.watch.audits.signals.wording import counted, shown

# Calls with one input in one session. Agents repeat a call now and then: of 200 recorded sessions
# of an airline's agent, four asked three times and one four times, for good reasons.
THRESHOLDS: Mapping[Sensitivity, int] = {"low": 10, "medium": 5, "high": 3}

# This many calls cost money, and this share of the sessions matters.
_WARNING_CALLS, _WARNING_SHARE = 10, 0.01

# Inputs are compared by a hash, because an input may be as long as its event.
_INPUT = "JSONExtractRaw(payload, 'input')"
_HAS_INPUT = f"{_INPUT} NOT IN ('', 'null')"
_CALLS = "event_type = 'tool_use' AND tool_name != ''"
_SHOWN_CHARS = 1000


def _statement(where: Where) -> str:
    return f"""
SELECT tool, sum(loops), sum(calls), max(longest), {citing.citations()}
FROM (
    SELECT tool, session_id, count() AS loops, sum(times) AS calls, max(times) AS longest,
        {citing.SEEN_AGAIN}
    FROM (
        SELECT {counting.TOOL} AS tool, session_id, count() AS times, {citing.SEEN}
        FROM events FINAL
        PREWHERE {where} AND {_CALLS}
        WHERE {_HAS_INPUT}
        GROUP BY tool, session_id, sipHash64({_INPUT})
        HAVING times >= {{least:UInt64}}
    )
    GROUP BY tool, session_id
)
GROUP BY tool
ORDER BY sum(loops) DESC, tool
LIMIT {reading.MAX_CANDIDATES}
"""


def find(look: Look) -> list[Candidate]:
    """Returns a candidate per tool: `{loops, sessions, calls, longest}`.

    `calls` counts the calls of all loops, `longest` those of the longest one.
    """
    where = look.where()
    where.params["least"] = THRESHOLDS[look.sensitivity]
    found = reading.rows(look, _statement(where), where.params)
    return [_candidate(look, row) for row in found]


def _candidate(look: Look, row: Row) -> Candidate:
    tool, loops, calls, longest = row[:4]
    cited = citing.FindingCitations.of(row)
    sessions = cited.affected_sessions
    share = share_of_sessions(look, sessions)
    return Candidate(
        signal="tool_loop",
        key=(tool,),
        title=(
            f"{shown(tool)} is called up to {longest} times with the same input"
            f" in {counted(sessions, 'session')}"
        ),
        category="tools",
        failure_type="tool_loop",
        kind="failure",
        # Never a reason to wake anybody: if a loop breaks something, that appears as failures.
        severity=severity(warning=longest >= _WARNING_CALLS or share >= _WARNING_SHARE),
        magnitude=magnitude(share),
        description=(
            f"{counted(sessions, 'session')} called the tool {shown(tool)} at least"
            f" {THRESHOLDS[look.sensitivity]} times with the same input:"
            f" {counted(loops, 'loop')}, {calls} calls in all, the longest of {longest}."
        ),
        **cited._asdict(),
        numbers={
            "loops": loops,
            "sessions": sessions,
            "calls": calls,
            "longest": longest,
        },
        queries=_queries(look, tool),
        recommendation=(
            "Look at the tool's results in these sessions: an agent repeats a call that tells it"
            " nothing new. A limit of identical calls ends such a session early."
        ),
        scope={"tool_names": (shown(tool),)},
    )


def _queries(look: Look, tool: str) -> tuple[EvidenceQuery, ...]:
    loops = (
        "FROM (SELECT session_id, count() AS times, min(ts) AS first_at, max(ts) AS last_at,"
        f" any(leftUTF8({_INPUT}, {_SHOWN_CHARS})) AS input_begins FROM events"
        f" WHERE {sql.where(look)} AND {_CALLS} AND {literals.is_text(counting.TOOL, tool)}"
        f" AND {_HAS_INPUT} GROUP BY session_id, sipHash64({_INPUT})"
        f" HAVING times >= {THRESHOLDS[look.sensitivity]})"
    )
    return (
        EvidenceQuery(
            "Numbers of loops and of the calls in them",
            "SELECT count() AS loops, uniqExact(session_id) AS sessions, sum(times) AS calls,"
            f" max(times) AS longest {loops}",
        ),
        EvidenceQuery(
            "The loops, longest first",
            "SELECT session_id, times, first_at, last_at, input_begins"
            f" {loops} ORDER BY times DESC, session_id LIMIT 100",
        ),
    )
