"""How much an organization may keep of what is listed as a whole."""

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.core.errors import Conflict


@dataclass(frozen=True)
class Room:
    """At most so many rows, which have together at most so many bytes."""

    rows: int
    total_bytes: int

    def require(self, session: Session, sizes: Select[int], size: int, *, what: str) -> None:
        """Raises `Conflict` where a row of `size` bytes has no room beside those of `sizes`.

        Two that are added at once may both find the last place: this bounds what a list costs and
        is no quota.
        """
        of_rows = sizes.subquery()
        total = func.coalesce(func.sum(of_rows.c[0]), 0)
        [(count, taken)] = session.execute(select(func.count(), total).select_from(of_rows))
        if count >= self.rows:
            raise Conflict(f"there are at most {self.rows} {what}", code="too_many")
        if taken + size > self.total_bytes:
            raise Conflict(
                f"{what} have together at most {self.total_bytes} bytes", code="too_large_together"
            )
