"""The declarative base, which gives every constraint a predictable name for Alembic."""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import DateTime, ForeignKeyConstraint, MetaData, Text, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

timestamp_type = DateTime(timezone=True)


class Base(DeclarativeBase):
    """The base of all PostgreSQL tables; the `models.py` of each noun subclass it."""

    # The migrations declare Text as well, so that they can be compared with the models.
    type_annotation_map: ClassVar[dict[Any, Any]] = {str: Text}

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def same_org(
    column: str, table: str, *, name: str, use_alter: bool = False
) -> ForeignKeyConstraint:
    """Returns the constraint that a column refers to a row of `table` in the same organization.

    The row is deleted with the one that it refers to.
    """
    return ForeignKeyConstraint(
        ["org_id", column],
        [f"{table}.org_id", f"{table}.id"],
        name=name,
        ondelete="CASCADE",
        use_alter=use_alter,
    )


def created_at_column() -> Mapped[datetime]:
    """Returns a column `created_at` that the database fills in."""
    return mapped_column(timestamp_type, server_default=func.clock_timestamp(), nullable=False)
