"""Steps of migrations that let the service go on writing."""

from collections.abc import Sequence

from alembic import op
from sqlalchemy import TextClause


def create_index(
    name: str,
    table: str,
    columns: Sequence[str | TextClause],
    *,
    unique: bool = False,
    where: TextClause | None = None,
) -> None:
    """Creates an index on a table with rows; writes go on while it is built.

    An attempt that was interrupted is begun again. It runs outside of any transaction, so a
    migration that calls this does nothing else.
    """
    with op.get_context().autocommit_block():
        # It waits for transactions that are older, and nothing waits for it.
        op.execute("SET lock_timeout = 0")
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(
            name,
            table,
            list(columns),
            unique=unique,
            postgresql_where=where,
            postgresql_concurrently=True,
        )


def drop_index(name: str, table: str) -> None:
    """Drops an index; writes go on. A migration that calls this does nothing else."""
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
