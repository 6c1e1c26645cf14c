"""The statements that a test sends to PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event

from shared.foundation.deployment.runtime import Runtime


@contextmanager
def counted_statements(runtime: Runtime) -> Iterator[list[str]]:
    """Collects the statements that are sent to PostgreSQL."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    event.listen(runtime.postgres.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(runtime.postgres.engine, "before_cursor_execute", note)
