"""Plans: the part of an evaluation that depends on the kind of a rule."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from shared.foundation.clickhouse.where import us
from shared.foundation.core.clock import format_us
from shared.foundation.core.text import storable
from shared.watch.alerts.evaluation.triggers.aggregates import EVENTS, Aggregate, AggregateRows
from shared.watch.alerts.evaluation.triggers.interface import RuleOutcome
from shared.watch.alerts.evidence import Selection
from shared.watch.incidents.evidence import Comparison, EvidenceWindow

MAX_SAMPLES = 10


class BreachLimit(NamedTuple):
    """The comparison that makes a value a breach: an operator as a sign, and a number."""

    op: str
    bound: float


class Plan(Protocol):
    """The plan of one rule of a kind that is evaluated together with others.

    `values` belong to `aggregates`, in the same order.
    """

    @property
    def limit(self) -> BreachLimit:
        """Returns the comparison of the value."""

    @property
    def aggregates(self) -> Sequence[Aggregate]:
        """Returns the aggregates that the outcome depends on."""

    def outcome(self, values: Sequence[Any]) -> RuleOutcome:
        """Returns the outcome of the rule."""

    def samples(self, values: Sequence[Any]) -> Sequence[Aggregate]:
        """Returns the rows that show a breach, made by `sample`.

        Read only for rules that breached.
        """


def sample(rows: AggregateRows, order: str | None = None, value: str | None = None) -> Aggregate:
    """Selects the first of `rows` in ascending `order` (SQL of a number; by default the newest).

    `?` in `order` stands for `value`.
    """
    by = order or f"-{us(rows.table.moment)}"
    chosen = f"({by}, {rows.table.id}, session_id)"
    return Aggregate(f"groupArraySortedIf({MAX_SAMPLES})", rows, chosen, value)


def filtered(spec: msgspec.Struct, names: Iterable[str]) -> dict[str, str]:
    """Returns the columns among `names` that a spec restricts, each with its value."""
    values = {name: getattr(spec, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def among(filters: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns the filters as `AggregateRows.among`."""
    return tuple((name, (value,)) for name, value in filters.items())


def comparison(metric: str, value: float | None, limit: BreachLimit) -> Comparison:
    """Returns the part of the evidence that shows which number was compared with which bound."""
    return {"metric": metric, "value": value, "op": limit.op, "bound": limit.bound}


def selection(rows: AggregateRows, filters: dict[str, str]) -> Selection:
    """Returns the part of the evidence that shows which rows the number was computed from."""
    window: EvidenceWindow = {"from": format_us(rows.start), "to": format_us(rows.stop)}
    return {"window": window, "filter": filters}


def samples_of(asked: Sequence[Aggregate], found: Mapping[Aggregate, Any]) -> dict[str, list[Any]]:
    """Returns the ids of the rows that show a breach, and of their sessions."""
    if not asked:
        return {}
    rows = [row for aggregate in asked for row in found.get(aggregate, ())]
    name = "event_ids" if asked[0].rows.table == EVENTS else "evaluation_ids"
    return {
        name: list(dict.fromkeys(row[1] for row in rows))[:MAX_SAMPLES],
        "session_ids": list(dict.fromkeys(storable(row[2]) for row in rows))[:MAX_SAMPLES],
    }
