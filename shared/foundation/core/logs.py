"""Structured logs: JSON lines in production, readable ones on a terminal.

Every line that a request or a message causes carries its `request_id`. The id is bound to the
context here, and `shared.foundation.queue.broker` carries it over the queue.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from redis.exceptions import RedisError
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, WrappedLogger

from shared.foundation.core.config import Settings

_SECRET_KEYS = frozenset(
    {"key", "secret", "token", "authorization", "password", "code", "cookie", "admin_key"}
)


def _mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name in event.keys() & _SECRET_KEYS:
        event[name] = "[hidden]"
    return event


def _say_outage_in_a_line(record: logging.LogRecord) -> bool:
    """Shortens the log of a lost Redis to a line: Dramatiq reports it as a bug, with all frames."""
    error = record.exc_info[1] if record.exc_info else None
    if record.name.startswith("dramatiq.") and isinstance(error, RedisError):
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg, record.args, record.exc_info = "redis_unavailable", (), None
        record.reason = type(error).__name__
    return True


def _is_news(record: logging.LogRecord) -> bool:
    """Drops a warning of Dramatiq at each start: every worker adds a middleware to its broker."""
    added = record.args[0] if isinstance(record.args, tuple) and record.args else None
    return record.name != "dramatiq.broker.Broker" or type(added).__name__ != "_WorkerMiddleware"


def configure_logging(settings: Settings, process: str) -> None:
    """Sends our logs and those of every library to stderr in one format, marked with `process`."""
    as_json = settings.log_format == "json" or (
        settings.log_format == "auto" and not sys.stderr.isatty()
    )

    def add_process(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["process"] = process
        return event

    common: list[Any] = [
        add_process,
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _mask_secrets,
    ]
    # Tracebacks leave out the values of local variables, which may be secrets.
    ending: list[Any] = (
        [
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(),
        ]
        if as_json
        else [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    )
    structlog.configure(
        processors=[*common, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=common,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
        )
    )
    handler.addFilter(_say_outage_in_a_line)
    handler.addFilter(_is_news)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # Every process asks Alembic for the revision of the database, and Alembic logs each time. The
    # driver logs a traceback when a server is down, which `shared.foundation.clickhouse` already
    # reports.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("clickhouse_driver").setLevel(logging.ERROR)


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Returns the logger of a module; use `log.info("event_name", field=…)`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def current_request_id() -> str | None:
    """Returns the id of the request or message that is being handled, if any."""
    value = structlog.contextvars.get_contextvars().get("request_id")
    return value if isinstance(value, str) else None


@contextmanager
def request_context(request_id: str, **fields: object) -> Iterator[None]:
    """Binds `request_id` and `fields` to every line logged inside the block."""
    with structlog.contextvars.bound_contextvars(request_id=request_id, **fields):
        yield
