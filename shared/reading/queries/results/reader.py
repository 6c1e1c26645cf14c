"""Runs statements as the read-only user, each on behalf of an organization.

The row policy shows a statement the rows of the organization that its query id begins with. Only
this module creates those ids.
"""

import queue
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from clickhouse_driver import Client
from clickhouse_driver.block import RowOrientedBlock
from clickhouse_driver.connection import Connection
from clickhouse_driver.errors import Error, ServerException
from clickhouse_driver.protocol import ServerPacketTypes
from clickhouse_driver.util.helpers import parse_url

from shared.foundation.core.connection_queue import ConnectionQueue, NoPlace
from shared.foundation.core.errors import QueryFailed, QueryTimeout, Unavailable, WatchpostError
from shared.foundation.core.ids import parse_uuid
from shared.foundation.core.logs import get_logger
from shared.foundation.core.tracing import spans
from shared.reading.queries.results.blocks import ResultBlock, UnreadableColumn
from shared.reading.queries.results.columns import MAX_VALUES, TooManyValues
from shared.reading.queries.results.failures import detail_of, failure_of, garbled
from shared.reading.queries.results.watch import (
    ClientCancelled,
    DeadlineExpired,
    TooManyBytes,
    Watch,
)

log = get_logger(__name__)

MAX_ROWS = 10_000
MAX_RESULT_BYTES = 64 * 1024 * 1024
# The database ends a statement after 10 s (profile `reader`). This limit is for a database that
# does not answer.
DEADLINE_SECS = 12.0
# All that a span shows of a statement of people.
_STATEMENT = {"db.system.name": "clickhouse", "db.operation.name": "SELECT"}
# The part of a name that errors show.
_TOLD_CHARS = 200
_encode = msgspec.json.Encoder().encode
# For the connection only; afterwards the deadline counts.
_DRIVER = {"connect_timeout": 5, "send_receive_timeout": 5, "tcp_keepalive": True}


class QueryCancelled(WatchpostError):
    """The client is gone, so the error reaches no one; nginx uses the same status."""

    status, code = 499, "query_cancelled"


@dataclass
class Result:
    """`columns` are (name, ClickHouse's type).

    `rows` are at most `MAX_ROWS` rows of JSON values.
    """

    columns: list[tuple[str, str]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    truncated: bool = False
    _room: int = MAX_RESULT_BYTES

    def add(self, block: ResultBlock) -> None:
        """Adds a block; ignores rows beyond `MAX_ROWS`.

        Raises `TooManyBytes` if the rows have more than `MAX_RESULT_BYTES` as JSON. A control
        character has six bytes there, and a slow client makes a thread keep all of them.
        """
        self.columns = self.columns or block.columns
        rows = list(zip(*block.values, strict=True))
        room = MAX_ROWS - len(self.rows)
        self.truncated = self.truncated or len(rows) > room
        for row in rows[:room]:
            # One row at a time: the JSON of all rows may be six times the size of the block.
            self._room -= len(_encode(row))
            if self._room < 0:
                raise TooManyBytes
            self.rows.append(row)


def never() -> bool:
    """Returns False, for callers that wait until the end."""
    return False


def forget(_query_id: str, _has_begun: bool) -> None:
    """Ignores statements that may still run, for callers that need not know them."""


class Reader:
    """A process's connections of the read-only user, at most `pool_size`."""

    def __init__(self, url: str, *, pool_size: int) -> None:
        self._url = url
        self._idle: queue.LifoQueue[Connection] = queue.LifoQueue()
        # A query may take ten seconds: if all places are taken by queries, no thread waits for one.
        self._queue = ConnectionQueue(pool_size, patient=0, pool="sql")

    def run(
        self,
        org_id: str,
        sql: str,
        params: Mapping[str, object],
        *,
        cancelled: Callable[[], bool] = never,
        left: Callable[[str, bool], None] = forget,
    ) -> Result:
        """Runs a guarded statement over the organization's rows.

        `cancelled` is called ten times a second in this thread; true ends the statement. `left` is
        called with the id of a query whose answer was not read to its end, and with whether the
        answer had begun: the query may still run. Raises `QueryFailed` for a refusal by the
        database, `QueryTimeout`, `QueryCancelled`, and `Unavailable` if the database is down or all
        connections are in use.
        """
        if parse_uuid(org_id) is None:
            raise ValueError("a statement runs in the name of an organization")
        query_id = f"{org_id}:{uuid.uuid4()}"
        watch = Watch(
            deadline=time.monotonic() + DEADLINE_SECS, cancelled=cancelled, most=MAX_RESULT_BYTES
        )
        with spans.part("SELECT", _STATEMENT), _translated(), self._connection(watch) as connection:
            result, has_ended = Result(), False
            try:
                connection.send_query(sql, query_id=query_id, params=dict(params))
                # The statement has no external tables.
                connection.send_data(RowOrientedBlock())
                has_ended = _receive(connection, result)
            except ServerException:
                has_ended = True
                raise
            finally:
                if not has_ended:
                    left(query_id, bool(result.columns))
            return result

    def close(self) -> None:
        """Closes the idle connections."""
        while True:
            try:
                self._idle.get_nowait().disconnect()
            except queue.Empty:
                return

    @contextmanager
    def _connection(self, watch: Watch) -> Iterator[Connection]:
        """Takes a connection of the pool under `watch`; only a finished statement gives it back."""
        try:
            with self._queue.place(), self._taken() as connection:
                _connect(connection, watch)
                yield connection
        except NoPlace:
            log.warning("queries_busy")
            raise Unavailable(
                "too many queries are running: try again later",
                code="queries_busy",
                retry_after_secs=2,
            ) from None

    @contextmanager
    def _taken(self) -> Iterator[Connection]:
        connection = self._take()
        try:
            yield connection
        finally:
            # False only after the end of the answer was read.
            if connection.is_query_executing:
                # The database ends a statement whose connection is closed.
                connection.disconnect()
            else:
                self._idle.put(connection)

    def _take(self) -> Connection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            host, options = parse_url(self._url)
            # Our own reader of blocks does not support compression.
            options |= {**_DRIVER, "compression": False}
            options["settings"] = {**options.get("settings", {}), "server_side_params": True}
            return Client(host, **options).connection


def _connect(connection: Connection, watch: Watch) -> None:
    """Checks that the server is there; reconnects if it was restarted."""
    if connection.connected:
        watch.attach(connection)
    try:
        connection.force_connect()
    except ServerException as error:
        log.warning("queries_unavailable", error_code=error.code, reason=detail_of(error))
        raise Unavailable(
            "ClickHouse refuses CLICKHOUSE_READONLY_URL", code="queries_unavailable"
        ) from error
    watch.attach(connection)


def _receive(connection: Connection, result: Result) -> bool:
    """Reads an answer to its end, or past the rows that are shown; returns whether it ended."""
    while True:
        packet = connection.receive_packet()
        if packet.type == ServerPacketTypes.EXCEPTION:
            raise packet.exception
        if packet.type == ServerPacketTypes.END_OF_STREAM:
            return True
        # Leaves out TOTALS and EXTREMES, which look like ordinary rows.
        if packet.type == ServerPacketTypes.DATA:
            result.add(packet.block)
            if result.truncated:
                return False


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ServerException as error:
        raise failure_of(error) from error
    except UnicodeDecodeError as error:
        raise garbled(error) from None
    except DeadlineExpired:
        raise QueryTimeout("the query ran longer than 10 s") from None
    except ClientCancelled:
        raise QueryCancelled("the client closed the connection") from None
    except (TooManyBytes, TooManyValues, UnreadableColumn) as error:
        raise QueryFailed("the result cannot be shown", detail=_reason(error)) from None
    except (Error, EOFError, OSError) as error:
        log.warning("clickhouse_unavailable", reason=type(error).__name__)
        raise Unavailable("ClickHouse is unavailable", code="clickhouse_unavailable") from error


def _reason(error: TooManyBytes | TooManyValues | UnreadableColumn) -> str:
    if isinstance(error, UnreadableColumn):
        name, type_ = (text[:_TOLD_CHARS] for text in (error.name, error.type))
        return f"the column {name} has the type {type_}: use toString() or toJSONString()"
    if isinstance(error, TooManyBytes):
        return "the result is larger than 64 MiB"
    return f"the result has more than {MAX_VALUES} values, including elements of arrays and maps"
