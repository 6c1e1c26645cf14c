"""Sums of rows of receipts by some of their columns, computed by PostgreSQL."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.intake.receipts.flushing import MERGED

Bucket = Literal["none", "hour", "day"]

# The bucket of a row. Without buckets all rows have the same.
_BUCKETS: Mapping[str, str] = {
    "none": "to_timestamp(0)",
    "hour": "bucket_start",
    "day": "date_trunc('day', bucket_start)",
}
# Hours that may have requests in the range, and of these the rows that do.
_IN_RANGE = (
    "org_id = :org_id AND bucket_start > :ts_from - interval '1 hour' AND bucket_start < :ts_to"
    " AND last_at >= :ts_from AND first_at < :ts_to"
)


@dataclass(frozen=True)
class Wanted:
    """The rows to sum: those of an organization with requests in a range, and with these values.

    `values` maps columns to the values that they may have.
    """

    org_id: uuid.UUID
    ts_from: datetime
    ts_to: datetime
    values: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Total:
    """One sum: its bucket, its values of the columns, its first and last request, its tally."""

    bucket: datetime
    labels: tuple[str, ...]
    first_at: datetime
    last_at: datetime
    tally: Mapping[str, int]

    @property
    def place(self) -> tuple[object, ...]:
        """Returns the sort key."""
        return (self.last_at, self.bucket, *self.labels)


def totals(
    session: Session,
    wanted: Wanted,
    columns: Sequence[str],
    *,
    bucket: Bucket = "none",
    after: Sequence[object] | None = None,
    limit: int,
) -> list[Total]:
    """Returns at most `limit` sums by `columns` and bucket, the newest last request first.

    `after` is the `place` of the sum before the first one.
    """
    conditions = [_IN_RANGE, *(f"{column} = ANY(:{column})" for column in wanted.values)]
    params: dict[str, object] = {name: list(values) for name, values in wanted.values.items()}
    params |= {"org_id": wanted.org_id, "ts_from": wanted.ts_from, "ts_to": wanted.ts_to}
    params |= {f"after{place}": value for place, value in enumerate(after or ())}
    statement = _statement(
        _BUCKETS[bucket],
        list(columns),
        " AND ".join(conditions),
        [f":after{place}" for place in range(len(after or ()))],
    )
    return [
        Total(row[0], tuple(row[1:-3]), *row[-3:])
        for row in session.execute(text(statement), {**params, "limit": limit})
    ]


def _statement(bucket: str, columns: list[str], where: str, after: list[str]) -> str:
    names = ", ".join(("bucket", *columns))
    selected = ", ".join((f"{bucket} AS bucket", *columns))
    having = f"HAVING (max(last_at), {names}) < ({', '.join(after)})" if after else ""
    order = ", ".join(f"{name} DESC" for name in ("last_at", "bucket", *columns))
    return f"""
    WITH rows AS (
        SELECT {selected}, first_at, last_at, tally FROM receipts WHERE {where}
    ), picked AS (
        SELECT {names}, min(first_at) AS first_at, max(last_at) AS last_at
        FROM rows GROUP BY {names} {having}
        ORDER BY {order} LIMIT :limit
    ), merged AS (
        SELECT {names}, name, {MERGED} AS n
        FROM picked JOIN (SELECT {names}, tally FROM rows) AS those USING ({names})
        CROSS JOIN LATERAL jsonb_each_text(tally) AS numbers (name, n)
        GROUP BY {names}, name
    ), tallies AS (
        SELECT {names}, jsonb_object_agg(name, n) AS tally FROM merged GROUP BY {names}
    )
    SELECT {names}, first_at, last_at, coalesce(tally, '{{}}')
    FROM picked LEFT JOIN tallies USING ({names})
    ORDER BY {order}
    """
