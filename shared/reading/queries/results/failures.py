"""Translates the database's refusal of a statement into an error for its sender."""

from clickhouse_driver.errors import ServerException

from shared.foundation.clickhouse import is_over_own_memory, is_transient
from shared.foundation.core.errors import QueryFailed, QueryTimeout, Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

# ErrorCodes.cpp of ClickHouse.
_TIMEOUT_EXCEEDED = 159
_PREFIX = "DB::Exception: "


def failure_of(error: ServerException) -> WatchpostError:
    """Returns the error to raise in place of `error`."""
    detail = detail_of(error)
    if error.code == _TIMEOUT_EXCEEDED:
        return QueryTimeout("the query ran longer than 10 s")
    # A statement is to blame for its own memory limit, but not for the limit of all together.
    if is_transient(error) and not is_over_own_memory(error):
        log.warning("clickhouse_unavailable", error_code=error.code, reason=detail)
        return Unavailable("ClickHouse is busy", code="clickhouse_unavailable")
    return QueryFailed("the database refuses this statement", detail=detail)


def garbled(error: UnicodeDecodeError) -> QueryFailed:
    """Returns the error for a message that quotes invalid text, such as `toUInt64(unhex('ff'))`."""
    message = error.object.decode(errors="replace")
    return QueryFailed("the database refuses this statement", detail=_detail(message))


def detail_of(error: ServerException) -> str:
    """Returns the database's message without its stack trace."""
    return _detail(str(error.message))


def _detail(message: str) -> str:
    return message.partition("Stack trace:")[0].strip().removeprefix(_PREFIX)
