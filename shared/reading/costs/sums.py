"""What calls cost together: in total, by dimensions and over time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import redis
import xxhash

from shared.foundation.cache.answers import remembered
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.clickhouse.slices import TimeRange
from shared.foundation.core.clock import format_us, now_us, to_us
from shared.foundation.core.cursor import decode_cursor, encode_cursor
from shared.foundation.core.errors import Invalid
from shared.reading.costs import calendar
from shared.reading.costs.figures import NOTHING, CallSums
from shared.reading.costs.groups import TAG, require_groups
from shared.reading.costs.places import cost_place
from shared.reading.costs.statement import (
    GROUP,
    OTHER,
    SERIES,
    TOTAL,
    GroupPosition,
    SumsQuestion,
    SumsRow,
    read_sums,
)
from shared.reading.events.filters import EventFilters

FRESH = timedelta(seconds=10)
STANDARD_DAYS = 30
# What ClickHouse can store.
_OLDEST = to_us(datetime(1900, 1, 1, tzinfo=UTC))
_NEWEST = to_us(datetime(2300, 1, 1, tzinfo=UTC))
_DAY_US = 24 * 3600 * 1_000_000
_NO_CALLS = SumsRow(TOTAL, GroupPosition("", ()), NOTHING, ())

Key = dict[str, str | None]


class CostQuery(NamedTuple):
    """The parameters of a request, as they were given."""

    filters: EventFilters
    group_by: tuple[str, ...] = ()
    bucket: str = calendar.NONE
    tz: str = "UTC"
    sort: str = "cost"
    limit: int = 50
    cursor: str | None = None


class CostRange(msgspec.Struct, rename={"from_": "from"}):
    """The range of the calls, `to` exclusive."""

    from_: str
    to: str


class SumPoint(msgspec.Struct):
    """The calls of a bucket, which begins at `ts`; `cost_usd` is None if none of them has one."""

    ts: str
    cost_usd: float | None
    calls: int
    tokens: int


class SumSeries(msgspec.Struct):
    """A group over time; without a key it is all calls."""

    key: Key | None
    points: list[SumPoint]


class CostAnswer(msgspec.Struct):
    """The sums; a group is its key beside its figures, and `other` adds up all further groups."""

    bounds: CostRange
    currency: str
    total: CallSums
    groups: list[dict[str, Any]]
    other: CallSums | None
    series: list[SumSeries]
    next_cursor: str | None


class _Cursor(NamedTuple):
    """The end of a page, and the list that it is of; the range in microseconds."""

    sort: str
    group_by: tuple[str, ...]
    start: int
    stop: int
    value: str
    keys: tuple[str | None, ...]


def sum_costs(
    clickhouse: ClickHouse, client: redis.Redis, org_id: str, asked: CostQuery
) -> CostAnswer:
    """Returns the sums of all calls that `asked` describes, at most 10 s old.

    Raises `Invalid` naming the parameter, `RateLimited` if the organization has no place for
    another statement within 5 s, and `QueryTimeout` after 20 s.
    """

    def answer() -> CostAnswer:
        question = _question(asked)
        with cost_place(client, clickhouse, org_id):
            return _answer(asked, question, _read(clickhouse, org_id, question))

    text = msgspec.json.encode((repr(asked.filters), *asked[1:]))
    name = f"costs:{org_id}:{xxhash.xxh3_128_hexdigest(text)}"
    return remembered(client, name, CostAnswer, FRESH, answer)


def span_of(filters: EventFilters) -> TimeRange:
    """Returns the range of the calls, by default the 30 days before its end, which is now.

    Raises `Invalid` naming `ts_from` if it is after the end.
    """
    stop = now_us() if filters.ts_to is None else min(to_us(filters.ts_to), _NEWEST)
    if filters.ts_from is None:
        return TimeRange(max(stop - STANDARD_DAYS * _DAY_US, _OLDEST), stop)
    start = max(to_us(filters.ts_from), _OLDEST)
    if start > stop:
        raise Invalid.field("ts_from", "must not be after ts_to")
    return TimeRange(start, stop)


def _question(asked: CostQuery) -> SumsQuestion:
    require_groups(asked.group_by)
    zone = calendar.zone_of(asked.tz)
    after, span = None, None
    if asked.cursor is not None:
        place = decode_cursor(asked.cursor, _Cursor)
        if (place.sort, place.group_by) != (asked.sort, asked.group_by):
            raise Invalid.field("cursor", "is not a cursor of this list")
        span = TimeRange(place.start, place.stop)
        after = GroupPosition(place.value, place.keys)
    span = span or span_of(asked.filters)
    starts = [] if asked.bucket == calendar.NONE else calendar.starts_of(asked.bucket, zone, *span)
    return SumsQuestion(
        asked.filters, span, asked.group_by, tuple(starts), asked.sort, asked.limit, after
    )


def _read(clickhouse: ClickHouse, org_id: str, question: SumsQuestion) -> list[SumsRow]:
    rows = read_sums(clickhouse, org_id, question)
    if TAG not in question.group_by:
        return rows
    # A call counts for each of its tags, and for the total once.
    whole = read_sums(clickhouse, org_id, question._replace(group_by=(), after=None))
    return [*(row for row in whole if row.kind == TOTAL), *(r for r in rows if r.kind != TOTAL)]


def _answer(asked: CostQuery, question: SumsQuestion, rows: Sequence[SumsRow]) -> CostAnswer:
    of_kind: dict[int, list[SumsRow]] = {kind: [] for kind in (TOTAL, GROUP, OTHER, SERIES)}
    for row in rows:
        of_kind[row.kind].append(row)
    total, other = next(iter(of_kind[TOTAL]), _NO_CALLS), of_kind[OTHER]
    groups = of_kind[GROUP] if asked.group_by else []
    of_groups = ((_key(asked, row), row.points) for row in of_kind[SERIES])
    series = [
        SumSeries(key, _points(question.starts, points))
        for key, points in [(None, total.points), *of_groups]
    ]
    return CostAnswer(
        bounds=CostRange(*map(format_us, question.span)),
        currency="USD",
        total=total.figures,
        groups=[{"key": _key(asked, row), **msgspec.structs.asdict(row.figures)} for row in groups],
        other=other[0].figures if other and asked.group_by else None,
        series=series if question.starts else [],
        next_cursor=_cursor(asked, question, groups[-1]) if groups and other else None,
    )


def _cursor(asked: CostQuery, question: SumsQuestion, last: SumsRow) -> str:
    return encode_cursor(_Cursor(asked.sort, asked.group_by, *question.span, *last.position))


def _key(asked: CostQuery, row: SumsRow) -> Key:
    return dict(zip(asked.group_by, row.position.keys, strict=True))


def _points(starts: Sequence[int], found: Sequence[Sequence[Any]]) -> list[SumPoint]:
    """Returns a point for each bucket."""
    by_start = {start: values for start, *values in zip(*found, strict=True)}
    points = []
    for start in starts:
        calls, unpriced, tokens, cost = by_start.get(start, (0, 0, 0, 0))
        has_cost = calls == 0 or calls > unpriced
        points.append(SumPoint(format_us(start), float(cost) if has_cost else None, calls, tokens))
    return points
