"""Spans of PostgreSQL's statements, for an engine of a process that sends traces of itself."""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

from shared.foundation.core.tracing.spans import BlockSpan
from shared.foundation.core.tracing.statements import Statements
from shared.foundation.postgres.base import Base

_STATEMENTS = Statements("postgresql", Base.metadata.tables)
# The attribute of a statement's execution that holds its span.
_SPAN = "watchpost_span"


def follow(engine: Engine) -> None:
    """Makes a span of each statement from now on, inside of other spans."""
    event.listen(engine, "before_cursor_execute", _begin)
    event.listen(engine, "after_cursor_execute", _end)
    event.listen(engine, "handle_error", _fail)


def _begin(
    _connection: object, _cursor: object, sql: str, _values: object, execution: Any, _many: bool
) -> None:
    setattr(execution, _SPAN, _STATEMENTS.span(sql).__enter__())


def _end(
    _connection: object, _cursor: object, _sql: str, _values: object, execution: Any, _many: bool
) -> None:
    _close(execution, None)


def _fail(error: ExceptionContext) -> None:
    _close(error.execution_context, error.original_exception)


def _close(execution: Any, error: BaseException | None) -> None:
    span: BlockSpan | None = getattr(execution, _SPAN, None)
    if span is not None:
        setattr(execution, _SPAN, None)
        span.__exit__(None if error is None else type(error), error, None)
