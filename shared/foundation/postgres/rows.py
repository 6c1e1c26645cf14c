"""Finds the row that a request names, and writes rows that may break a unique constraint."""

import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from sqlalchemy import Select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session

from shared.foundation.core.errors import Conflict, NotFound
from shared.foundation.core.ids import parse_uuid
from shared.foundation.postgres.database import transaction_time

Entity = TypeVar("Entity")


def require_row(
    session: Session,
    rows: Select[Entity],
    id_column: Mapped[uuid.UUID],
    row_id: str | uuid.UUID,
    what: str,
) -> Entity:
    """Returns the one of `rows` with this id; raises `NotFound`, also for a malformed id."""
    parsed = parse_uuid(row_id) if isinstance(row_id, str) else row_id
    found = None
    if parsed is not None:
        found = session.scalars(rows.where(id_column == parsed)).one_or_none()
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
