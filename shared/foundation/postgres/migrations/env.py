"""Alembic's entry: runs the migrations on the connection that `migrate.py` passes.

Each migration is a transaction of its own, so its locks end with it, and what is done stays done.
"""

from alembic import context
from sqlalchemy import text

from shared.foundation.postgres.base import Base

if context.is_offline_mode():
    context.configure(
        dialect_name="postgresql", target_metadata=Base.metadata, transaction_per_migration=True
    )
    with context.begin_transaction():
        context.run_migrations()
else:
    attributes = context.config.attributes
    with attributes["engine"].connect() as connection:
        # Building an index may take long. A statement that waits for a lock makes all others wait
        # behind it, so it gives up soon, and the migration is tried again.
        connection.execute(text("SET statement_timeout = 0"))
        connection.execute(text(f"SET lock_timeout = {attributes['lock_timeout_ms']}"))
        connection.commit()
        context.configure(
            connection=connection, target_metadata=Base.metadata, transaction_per_migration=True
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.invalidate()  # no later user of the pool gets these timeouts
