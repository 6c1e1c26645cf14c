"""WHERE clauses that bind values on the server and always contain the organization."""

from collections.abc import Sequence
from datetime import datetime

from shared.foundation.core.clock import to_us


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
        """Requires that `column` is one of `values`; no values means no condition."""
        if values:
            name = f"any_{column}"
            self.add(f"{column} IN {{{name}:Array({ch_type})}}", **{name: list(values)})
        return self

    def between(self, column: str, ts_from: datetime | None, ts_to: datetime | None) -> "Where":
        """Requires a time from `ts_from` (inclusive) to `ts_to` (exclusive); either may be None."""
        if ts_from is not None:
            self.add(f"{column} >= {moment('ts_from')}", ts_from=to_us(ts_from))
        if ts_to is not None:
            self.add(f"{column} < {moment('ts_to')}", ts_to=to_us(ts_to))
        return self

    def within(self, column: str, start: int, stop: int) -> "Where":
        """Requires a time from `start` (inclusive) to `stop` (exclusive), both in microseconds."""
        condition = f"{column} >= {moment('start')} AND {column} < {moment('stop')}"
        return self.add(condition, start=start, stop=stop)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Returns all conditions, the organization's first."""
        return tuple(self._conditions)

    @property
    def added(self) -> tuple[str, ...]:
        """Returns the conditions other than the organization's."""
        return tuple(self._conditions[1:])

    def __str__(self) -> str:
        """Returns the clause without the word WHERE."""
        return " AND ".join(self._conditions)


def moment(name: str) -> str:
    """Returns the SQL of a bound moment: parameter `name` holds microseconds since the epoch."""
    return f"fromUnixTimestamp64Micro({{{name}:Int64}}, 'UTC')"


def us(column: str) -> str:
    """Returns SQL that reads a DateTime64(6) column as an integer of microseconds."""
    return f"toUnixTimestamp64Micro({column})"
