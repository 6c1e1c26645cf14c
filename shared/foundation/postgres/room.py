"""A limit on the rows of an organization in tables that are listed without pages."""

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.foundation.core.errors import Conflict


@dataclass(frozen=True)
class Room:
    """A limit of `rows` rows with `total_bytes` bytes in total."""

    rows: int
    total_bytes: int

    def require(self, session: Session, sizes: Select[int], size: int, *, what: str) -> None:
        """Raises `Conflict` if a row of `size` bytes does not fit in next to those of `sizes`.

        Two rows that are added at once may both get the last place. The limit bounds the cost of a
        list; it is not an exact quota.
        """
        of_rows = sizes.subquery()
        total = func.coalesce(func.sum(of_rows.c[0]), 0)
        [(count, taken)] = session.execute(select(func.count(), total).select_from(of_rows))
        if count >= self.rows:
            raise Conflict(
                f"there can be at most {self.rows} {what}: delete one first", code="too_many"
            )
        if taken + size > self.total_bytes:
            raise Conflict(
                f"{what} can have at most {self.total_bytes} bytes in total",
                code="too_large_together",
            )
