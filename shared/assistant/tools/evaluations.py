"""Tools that read scores."""

from typing import Any, Literal

import msgspec

from shared.assistant.asker import Asker
from shared.assistant.tools.filtered import filtered
from shared.assistant.tools.tool import Rows, Text, Tool, ToolResult
from shared.assistant.values import fields_of, plain
from shared.foundation.core import pages
from shared.foundation.core.clock import format_us
from shared.reading.evaluations.aggregate.compute import aggregate
from shared.reading.evaluations.filters import EvaluationFilters
from shared.reading.evaluations.listing import page
from shared.reading.evaluations.lowest import lowest
from shared.reading.evaluations.records import Evaluation

_FIELDS = ("session_id", "agent_id", "environment", "status", "scores", "reasoning", "summary")


# The time is that of completion.
_OfEvaluations = filtered("OfEvaluations", EvaluationFilters, without=("time",))


class _Results(_OfEvaluations):  # type: ignore[misc, valid-type] # made from the declared filters
    """Filters of results."""

    latest_per_session: bool = True


class SummariseScores(_Results):
    """The results to summarise."""

    bucket: Literal["hour", "day", "week"] = "day"


class ListEvaluations(_Results):
    """A list of results."""

    lowest: Text | None = None
    limit: Rows = 20


def _summarise(asker: Asker, wanted: SummariseScores) -> ToolResult:
    found = aggregate(
        asker.runtime.clickhouse,
        asker.org,
        wanted.filters,
        bucket=wanted.bucket,
        featured_keys=[],
        series=(),
    )
    scores = [msgspec.structs.asdict(row) for row in found.score_stats]
    starts = [format_us(start) for start in found.buckets.starts()]
    over_time = {
        chart.selector.key: {
            ts: value for ts, value in zip(starts, chart.values, strict=True) if value is not None
        }
        for chart in found.featured
    }
    value = {
        "evaluations": found.total._asdict(),
        "scores": plain(scores),
        "averages_by_bucket": over_time,
        "link": pages.page(asker.org_slug, "evaluations"),
    }
    return ToolResult(value, len(scores))


def _list(asker: Asker, wanted: ListEvaluations) -> ToolResult:
    clickhouse, filters = asker.runtime.clickhouse, wanted.filters
    if wanted.lowest is None:
        records = page(clickhouse, asker.org, filters, limit=wanted.limit, cursor=None).rows
    else:
        records = lowest(clickhouse, asker.org, filters, wanted.lowest, limit=wanted.limit)
    rows = [_row(asker, record) for record in records]
    return ToolResult({"evaluations": rows}, len(rows))


def _row(asker: Asker, record: Evaluation) -> dict[str, Any]:
    return {
        **fields_of(record, (*_FIELDS, "error", "attempt_count", "duration_ms")),
        "completed_at": format_us(record.completed_at),
        "link": pages.session(asker.org_slug, record.session_id),
    }


TOOLS = (
    Tool(
        "summarise_scores",
        "evaluations:read",
        "Summarises evaluations: counts by status, each score's count, mean, median and range, and"
        " the means over time.",
        SummariseScores,
        _summarise,
    ),
    Tool(
        "list_evaluations",
        "evaluations:read",
        "Lists evaluations with scores and reasoning, newest first; with `lowest`, the name of a"
        " score, the lowest ones.",
        ListEvaluations,
        _list,
    ),
)
