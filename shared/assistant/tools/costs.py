"""Tools that read what calls cost."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.assistant.asker import Asker
from shared.assistant.tools.filtered import filtered
from shared.assistant.tools.tool import Rows, Text, Tool, ToolResult
from shared.assistant.values import plain
from shared.foundation.core import pages
from shared.reading.costs.groups import GROUPS, MAX_GROUPS
from shared.reading.costs.sums import CostAnswer, CostQuery, sum_costs
from shared.reading.costs.unpriced import unpriced
from shared.reading.dimensions.names import PREFIX
from shared.reading.events.filters import EventFilters

_GROUP_BY = Meta(
    max_length=MAX_GROUPS, description=f"dimensions of {', '.join(GROUPS)}, {PREFIX}<key>"
)

_OfCalls = filtered("OfCalls", EventFilters, without=("event_id", "search", "search_exclude"))


class SumCosts(_OfCalls):  # type: ignore[misc, valid-type] # made from the declared filters
    """The calls to add up, and how."""

    group_by: Annotated[tuple[Text, ...], _GROUP_BY] = ()
    bucket: Literal["none", "hour", "day", "week", "month"] = "none"
    tz: Annotated[Text, Meta(description="time zone of the buckets")] = "UTC"
    sort: Literal["cost", "tokens", "calls"] = "cost"
    limit: Rows = 20


class ListUnpricedModels(_OfCalls):  # type: ignore[misc, valid-type] # as above
    """The calls to look at."""

    limit: Rows = 20


def _sum(asker: Asker, wanted: SumCosts) -> ToolResult:
    found = sum_costs(
        asker.runtime.clickhouse,
        asker.runtime.redis,
        asker.org,
        CostQuery(
            wanted.filters, wanted.group_by, wanted.bucket, wanted.tz, wanted.sort, wanted.limit
        ),
    )
    value = {
        "bounds": msgspec.to_builtins(found.bounds),
        "currency": found.currency,
        "total": msgspec.to_builtins(found.total),
        "groups": plain(found.groups),
        "all_further_groups": msgspec.to_builtins(found.other),
        "cost_usd_over_time": _over_time(found),
        "link": pages.page(asker.org_slug, "costs"),
    }
    return ToolResult(value, len(found.groups))


def _over_time(found: CostAnswer) -> list[dict[str, Any]]:
    """Returns the dollars of each bucket with calls; without a key they are those of all calls."""
    return [
        {
            "key": plain(series.key),
            "points": {one.ts: one.cost_usd for one in series.points if one.calls},
        }
        for series in found.series
    ]


def _unpriced(asker: Asker, wanted: ListUnpricedModels) -> ToolResult:
    runtime = asker.runtime
    found = unpriced(runtime.clickhouse, runtime.redis, asker.org, wanted.filters)
    rows = [
        {
            **plain(msgspec.to_builtins(one)),
            "link": pages.session(asker.org_slug, one.example.session_id, one.example.event_id),
        }
        for one in found.models[: wanted.limit]
    ]
    value = {
        "total": msgspec.to_builtins(found.total),
        "models": rows,
        "more": len(found.models) > wanted.limit,
        "link": pages.page(asker.org_slug, "costs"),
    }
    return ToolResult(value, len(rows))


TOOLS = (
    Tool(
        "sum_costs",
        "evaluations:read",
        "Adds up what calls of models and tools cost, in dollars, with their tokens: in total, by"
        " one or two dimensions, the dearest first, and over time. Without `since` it looks at the"
        " 30 days before `until`. With unpriced_calls the dollars are a lower bound.",
        SumCosts,
        _sum,
    ),
    Tool(
        "list_unpriced_models",
        "evaluations:read",
        "Lists the models whose calls have no price, with the reason and the newest call of each.",
        ListUnpricedModels,
        _unpriced,
    ),
)
