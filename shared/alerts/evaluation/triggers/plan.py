"""What a rule needs to know, and what it makes of it: each kind's part of an evaluation."""

from collections.abc import Sequence
from typing import Any, Protocol

from shared.alerts.evaluation.triggers.aggregates import Aggregate, Rows
from shared.alerts.evaluation.triggers.interface import Outcome
from shared.clickhouse.where import us
from shared.core.clock import format_us

MAX_SAMPLES = 5


class Plan(Protocol):
    """One rule of a kind that is evaluated together with others.

    `values` are those of `aggregates`, in their order.
    """

    @property
    def aggregates(self) -> Sequence[Aggregate]:
        """What the outcome is made from."""

    def outcome(self, values: Sequence[Any]) -> Outcome:
        """What the rule has seen."""

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:
        """What shows a breach: each made by `sample`, and read for rules that breached."""


def sample(rows: Rows, order: str | None = None, value: str | None = None) -> Aggregate:
    """The first of `rows` in ascending `order` (SQL of a number; without it the newest ones).

    `?` in `order` stands for `value`.
    """
    by = order or f"-{us(rows.table.moment)}"
    chosen = f"({by}, {rows.table.id}, session_id)"
    return Aggregate(f"groupArraySortedIf({MAX_SAMPLES})({chosen}, @)", rows, value)


def window(rows: Rows) -> dict[str, str]:
    """The range of time of `rows`, as evidence has it."""
    return {"from": format_us(rows.start), "to": format_us(rows.stop)}
