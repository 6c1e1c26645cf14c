"""Finds and measures the rows of a request, and writes those that may break a constraint."""

import uuid
from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy import Row, Select, Text, cast, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session

from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres.database import transaction_time

Entity = TypeVar("Entity")
Columns = TypeVarTuple("Columns")


def require_row(
    session: Session,
    rows: Select[Entity],
    id_column: Mapped[uuid.UUID],
    row_id: str | uuid.UUID,
    what: str,
) -> Entity:
    """Returns the one of `rows` with this id; raises `NotFound`, also for a malformed id."""
    return require_columns(session, rows, id_column, row_id, what)[0]


def require_columns(
    session: Session,
    rows: Select[*Columns],
    id_column: Mapped[uuid.UUID],
    row_id: str | uuid.UUID,
    what: str,
) -> Row[*Columns]:
    """Does the same for rows of several entities or columns."""
    parsed = parse_uuid(row_id) if isinstance(row_id, str) else row_id
    found = None
    if parsed is not None:
        found = session.execute(rows.where(id_column == parsed)).one_or_none()
    if found is None:
        raise NotFound.named(what, row_id)
    return found


def flush_unique(session: Session, conflicts: Mapping[str, Conflict]) -> None:
    """Writes the changes of a session; raises the error of the constraint that they break."""
    try:
        session.flush()
    except IntegrityError as error:
        for constraint, conflict in conflicts.items():
            if constraint in str(error.orig):
                raise conflict from None
        raise


def change(session: Session, row: Any, columns: Mapping[str, Any]) -> None:
    """Sets columns of a row, and `updated_at` to the time of the transaction."""
    for name, value in {**columns, "updated_at": transaction_time(session)}.items():
        setattr(row, name, value)


def sizes(*columns: Any) -> Select[int]:
    """Returns a query for the bytes of the columns as text, in each row. NULL has none."""
    lengths = [func.coalesce(func.octet_length(cast(one, Text)), 0) for one in columns]
    return select(reduce(add, lengths))
