"""The record of one evaluation result; its fields are the columns of the table `evaluations`."""

from typing import Literal

import msgspec

Status = Literal["done", "error", "timeout"]


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A result; `completed_at` is in microseconds since the epoch.

    `(org_id, completed_at, evaluation_id)` is the key: the same record stored twice is one result,
    so a repeated write must repeat the time too. Maps are null rather than empty.
    """

    org_id: str
    evaluation_id: str
    session_id: str
    agent_id: str
    environment: str
    status: Status
    scores: dict[str, float] | None
    reasoning: dict[str, str] | None
    summary: str | None
    error: str | None
    attempt_count: int
    duration_ms: int | None
    completed_at: int


COLUMNS: tuple[str, ...] = Evaluation.__struct_fields__

# ClickHouse has no null maps; an empty one stands for null there.
MAP_COLUMNS = frozenset({"scores", "reasoning"})


def from_row(row: tuple[object, ...]) -> Evaluation:
    """Creates the record from a row of all columns, `completed_at` in microseconds."""
    values = dict(zip(COLUMNS, row, strict=True))
    for name in MAP_COLUMNS:
        values[name] = values[name] or None
    return msgspec.convert(values, Evaluation)
