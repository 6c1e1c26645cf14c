"""Builds WHERE clauses whose values are bound on the server and whose organization is a must."""

from collections.abc import Sequence
from datetime import datetime

from shared.core.clock import to_us


class Where:
    """Conditions joined by AND, beginning with the organization."""

    def __init__(self, org_id: str) -> None:
        self._conditions = ["org_id = {org_id:String}"]
        self.params: dict[str, object] = {"org_id": org_id}

    def add(self, condition: str, **params: object) -> "Where":
        """Adds a condition; `{name:Type}` in it is bound to the parameter of that name."""
        self._conditions.append(f"({condition})")
        self.params.update(params)
        return self

    def any_of(self, column: str, values: Sequence[object], ch_type: str = "String") -> "Where":
        """`column` is one of `values`; no values means no condition."""
        if values:
            name = f"any_{column}"
            self.add(f"{column} IN {{{name}:Array({ch_type})}}", **{name: list(values)})
        return self

    def between(self, column: str, ts_from: datetime | None, ts_to: datetime | None) -> "Where":
        """`ts_from` inclusive, `ts_to` exclusive, either open."""
        if ts_from is not None:
            self.add(f"{column} >= {moment('ts_from')}", ts_from=to_us(ts_from))
        if ts_to is not None:
            self.add(f"{column} < {moment('ts_to')}", ts_to=to_us(ts_to))
        return self

    @property
    def added(self) -> tuple[str, ...]:
        """The conditions beside the organization's, each by itself."""
        return tuple(self._conditions[1:])

    def __str__(self) -> str:
        """The clause without the word WHERE."""
        return " AND ".join(self._conditions)


def moment(name: str) -> str:
    """SQL of a bound moment: the parameter `name` holds microseconds since the epoch."""
    return f"fromUnixTimestamp64Micro({{{name}:Int64}}, 'UTC')"


def us(column: str) -> str:
    """SQL that reads a DateTime64(6) column as an integer of microseconds."""
    return f"toUnixTimestamp64Micro({column})"
