"""Twenty questions, the statement that knows each true answer, and how a scripted model finds it.

The scripted model calls other tools than SQL where it can, so that the two ways check each other.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_ALL_TIME = "2000-01-01T00:00:00Z"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
# An answer may round: 5.23 s stands for 5230.4 ms.
_ROUNDING = 0.01

Result = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A question; `sql` returns one value. A scripted model calls `tool` and reads `pick`."""

    text: str
    sql: str
    tool: str
    arguments: Result
    pick: Callable[[Result], Any]

    def is_answered_by(self, answer: str, truth: object) -> bool:
        """Returns whether an answer holds the truth: the name, or the number up to rounding."""
        if isinstance(truth, str):
            return truth.lower() in answer.lower()
        if not isinstance(truth, int | float):
            return False
        numbers = [float(found.replace(",", "")) for found in _NUMBER.findall(answer)]
        wanted = [float(truth), float(truth) / 1000]
        return any(
            abs(number - one) <= abs(one) * _ROUNDING for number in numbers for one in wanted
        )


def _sql(text: str, sql: str) -> Question:
    return Question(text, sql, "run_sql", {"sql": sql}, lambda found: found["rows"][0][0])


def _errors(text: str, sql: str, pick: Callable[[Result], Any], **given: Any) -> Question:
    return Question(text, sql, "count_errors", given, pick)


def _latency(text: str, sql: str, pick: Callable[[Result], Any], **given: Any) -> Question:
    return Question(text, sql, "measure_latency", {"since": _ALL_TIME, **given}, pick)


def _session(text: str, sql: str, name: str, of: str = "airline-009-t2") -> Question:
    return Question(text, sql, "read_session", {"session_id": of}, lambda found: found[name])


def _named(groups: list[Result]) -> Result:
    """Returns the largest group that has a name."""
    return next(group for group in groups if group["key"])


_FAILED_TOOL = (
    "SELECT {} FROM events WHERE is_error AND tool_name != '' GROUP BY tool_name"
    " ORDER BY count() DESC, tool_name LIMIT 1"
)
_QUANTILE = "SELECT quantileExactInclusive({})(duration_ms) FROM events WHERE event_type = '{}'"
_OF_SESSION = "SELECT {} FROM events WHERE session_id = 'airline-009-t2'"

QUESTIONS: tuple[Question, ...] = (
    _sql("How many sessions are there?", "SELECT uniqExact(session_id) FROM events"),
    _sql("How many events are there?", "SELECT count() FROM events"),
    _errors(
        "How many events report a failure?",
        "SELECT count() FROM events WHERE is_error",
        lambda found: found["total"],
    ),
    _errors(
        "How many sessions had at least one failure?",
        "SELECT uniqExact(session_id) FROM events WHERE is_error",
        lambda found: found["sessions"],
    ),
    _errors(
        "Which tool failed most often?",
        _FAILED_TOOL.format("tool_name"),
        lambda found: _named(found["groups"])["key"],
        group_by="tool_name",
    ),
    _errors(
        "How often did the tool fail that failed most often?",
        _FAILED_TOOL.format("count()"),
        lambda found: _named(found["groups"])["total"],
        group_by="tool_name",
    ),
    _errors(
        "How many events of the environment canary report a failure?",
        "SELECT count() FROM events WHERE is_error AND environment = 'canary'",
        lambda found: found["total"],
        environment=["canary"],
    ),
    _errors(
        "How many failures are of the type ToolError?",
        "SELECT count() FROM events WHERE is_error AND error_type = 'ToolError'",
        lambda found: found["total"],
        error_type=["ToolError"],
    ),
    _latency(
        "How many tool calls got a result?",
        "SELECT count() FROM events WHERE event_type = 'tool_result'",
        lambda found: found["all"]["count"],
    ),
    _latency(
        "What is the median latency of tool calls, in milliseconds?",
        _QUANTILE.format(0.5, "tool_result"),
        lambda found: found["all"]["p50"],
    ),
    _latency(
        "What is the 95th percentile of the latency of model calls, in milliseconds?",
        _QUANTILE.format(0.95, "model_response"),
        lambda found: found["all"]["p95"],
        of="models",
    ),
    _latency(
        "Which tool was called most often?",
        "SELECT tool_name FROM events WHERE event_type = 'tool_use' GROUP BY tool_name"
        " ORDER BY count() DESC LIMIT 1",
        lambda found: found["by_name"][0]["key"],
    ),
    _latency(
        "How many calls of book_reservation were there?",
        "SELECT count() FROM events WHERE event_type = 'tool_use'"
        " AND tool_name = 'book_reservation'",
        lambda found: found["all"]["count"],
        tool_name=["book_reservation"],
    ),
    _latency(
        "What was the longest time that people took to answer, in milliseconds?",
        "SELECT max(duration_ms) FROM events WHERE event_type = 'human_input'",
        lambda found: found["all"]["max"],
        of="people",
    ),
    _sql("How many input tokens were used?", "SELECT sum(input_tokens) FROM events"),
    _sql(
        "Which session has the most events?",
        "SELECT session_id FROM events GROUP BY session_id ORDER BY count() DESC, session_id"
        " LIMIT 1",
    ),
    _sql(
        "How many sessions have no agent_end?",
        "SELECT uniqExact(session_id) - uniqExactIf(session_id, event_type = 'agent_end')"
        " FROM events",
    ),
    _session("How many events has airline-009-t2?", _OF_SESSION.format("count()"), "events"),
    _session(
        "How many output tokens did airline-009-t2 use?",
        _OF_SESSION.format("sum(output_tokens)"),
        "output_tokens",
    ),
    _session(
        "In which environment did airline-009-t2 run?",
        _OF_SESSION.format("any(environment)"),
        "environment",
    ),
)
