"""Alembic's entry: runs the migrations on the connection that `migrate.py` passes."""

from alembic import context

from shared.postgres.base import Base

with context.config.attributes["engine"].connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata)
    with context.begin_transaction():
        context.run_migrations()
