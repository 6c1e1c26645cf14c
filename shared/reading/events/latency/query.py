"""The query of the latency aggregate."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from shared.foundation.clickhouse.filters import Filter
from shared.reading.events.families import NAMED, TOOL
from shared.reading.events.filters import EventFilters

Outcome = Literal["success", "error", "all"]
# The figure by which names are ranked.
Rank = Literal["count", "error_count", "p50", "p95", "p99", "max"]
SumField = Literal["duration_ms", "input_tokens", "output_tokens"]
SUM_FIELDS: tuple[SumField, ...] = get_args(SumField)

DEFAULT_TYPES = TOOL.types
DEFAULT_PAIR_PATHS = (*(family.key for family in NAMED), "id")
MAX_BINS = 168
HOUR_US = 3600 * 1_000_000
DAY_US = 24 * HOUR_US


# The filters of events that mean something else here.
NOT_OF_PAIRS = frozenset({"ts_from", "ts_to"})


class LatencyFilters(EventFilters):
    """The filters of pairs: each holds for one of the two events; the time is that of the start."""

    declared = (
        *(one for one in EventFilters.declared if one.parameter not in NOT_OF_PAIRS),
        Filter(
            "ts_from",
            "moment",
            "pairs that start at or after this; default: 24 hours before `ts_to`",
        ),
        Filter("ts_to", "moment", "pairs that start before this; default: now"),
    )


@dataclass(frozen=True)
class Contains:
    """A text that the value at a path of the payload has to contain, in any case."""

    path: str
    text: str


@dataclass(frozen=True)
class LatencyQuery:
    """The selection and construction of pairs; `start` and `stop` are microseconds.

    `names` is how many names are told apart: the first ones by `names_by`, highest first.
    `sums` maps the names of totals to the closing event's fields that they add up.
    """

    start: int
    stop: int
    start_type: str = DEFAULT_TYPES[0]
    end_type: str = DEFAULT_TYPES[1]
    bin_count: int = 24
    outcome: Outcome = "all"
    filters: LatencyFilters = field(default_factory=LatencyFilters)
    pair_paths: tuple[str, ...] = DEFAULT_PAIR_PATHS
    distribution_paths: tuple[str, ...] = (TOOL.group,)
    contains: tuple[Contains, ...] = ()
    sums: dict[str, SumField] = field(default_factory=dict)
    names: int = 10
    names_by: Rank = "count"

    @property
    def summed(self) -> list[SumField]:
        """The fields of the closing event that are added up, each once."""
        return sorted(set(self.sums.values()))
