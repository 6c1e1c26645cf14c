"""Runs statements as the read-only user, each in the name of an organization.

The row policy shows a statement the rows of the organization that its query id begins with; this
module alone makes those ids.
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

from shared.core.errors import QueryFailed, QueryTimeout, Unavailable, WatchpostError
from shared.core.ids import parse_uuid
from shared.core.logs import get_logger
from shared.core.turns import NoTurn, Turns
from shared.queries.results.blocks import Block, UnreadableColumn
from shared.queries.results.columns import MAX_VALUES, TooManyValues
from shared.queries.results.failures import detail_of, failure_of, garbled
from shared.queries.results.watch import Cancelled, Expired, TooManyBytes, Watch

log = get_logger(__name__)

MAX_ROWS = 10_000
MAX_RESULT_BYTES = 64 * 1024 * 1024
# The database ends a statement after 10 s (profile `reader`). This is for one that does not answer.
DEADLINE_SECS = 12.0
# Of a name, in an error.
_TOLD_CHARS = 200
_encode = msgspec.json.Encoder().encode
# Of making a connection; from then on the deadline counts.
_DRIVER = {"connect_timeout": 5, "send_receive_timeout": 5, "tcp_keepalive": True}


class QueryCancelled(WatchpostError):
    """Whoever asked is gone, so nobody reads this; the status is nginx's for the same."""

    status, code = 499, "query_cancelled"


@dataclass
class Result:
    """`columns`: (name, ClickHouse's type); `rows`: at most `MAX_ROWS`, of values JSON can hold."""

    columns: list[tuple[str, str]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    truncated: bool = False
    _room: int = MAX_RESULT_BYTES

    def add(self, block: Block) -> None:
        """Adds a block; what is more than `MAX_ROWS` is left out.

        Raises `TooManyBytes` where the rows have more than `MAX_RESULT_BYTES` as JSON: a control
        character has six there, and a slow client has a thread keep all of it.
        """
        self.columns = self.columns or block.columns
        rows = list(zip(*block.values, strict=True))
        room = MAX_ROWS - len(self.rows)
        self.truncated = self.truncated or len(rows) > room
        for row in rows[:room]:
            # A row at a time: the JSON of them all may be six times the block.
            self._room -= len(_encode(row))
            if self._room < 0:
                raise TooManyBytes
            self.rows.append(row)


def never() -> bool:
    """For whoever waits until the end."""
    return False


def forget(_query_id: str, _has_begun: bool) -> None:
    """For whoever does not mind what is left to the database."""


class Reader:
    """A process's connections of the read-only user, at most `pool_size`."""

    def __init__(self, url: str, *, pool_size: int) -> None:
        self._url = url
        self._idle: queue.LifoQueue[Connection] = queue.LifoQueue()
        # A query may take ten seconds: where all places are taken by such, nobody waits for one.
        self._turns = Turns(pool_size, patient=0)

    def run(
        self,
        org_id: str,
        sql: str,
        params: Mapping[str, object],
        *,
        cancelled: Callable[[], bool] = never,
        left: Callable[[str, bool], None] = forget,
    ) -> Result:
        """What a guarded statement finds among the organization's rows.

        `cancelled` is asked ten times a second, in this thread; true ends the statement. `left` is
        told the id of a query whose answer was not read to its end, and whether that began: the
        query may still run. Raises
        `QueryFailed` for what the database refuses, `QueryTimeout`, `QueryCancelled`, and
        `Unavailable` where the database is away or all connections are in use.
        """
        if parse_uuid(org_id) is None:
            raise ValueError("a statement runs in the name of an organization")
        query_id = f"{org_id}:{uuid.uuid4()}"
        watch = Watch(
            deadline=time.monotonic() + DEADLINE_SECS, cancelled=cancelled, most=MAX_RESULT_BYTES
        )
        with _translated(), self._connection(watch) as connection:
            result, has_ended = Result(), False
            try:
                connection.send_query(sql, query_id=query_id, params=dict(params))
                # No tables come with it.
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
        """A connection of the pool under `watch`; only a finished statement gives it back."""
        try:
            with self._turns.turn(), self._taken() as connection:
                _connect(connection, watch)
                yield connection
        except NoTurn:
            log.warning("queries_busy")
            raise Unavailable(
                "too many queries are running", code="queries_busy", retry_after_secs=2
            ) from None

    @contextmanager
    def _taken(self) -> Iterator[Connection]:
        connection = self._take()
        try:
            yield connection
        finally:
            # False once the end of the answer was read, and by nothing else.
            if connection.is_query_executing:
                # The database ends a statement whose connection is gone.
                connection.disconnect()
            else:
                self._idle.put(connection)

    def _take(self) -> Connection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            host, options = parse_url(self._url)
            # Blocks are read by our own reader, which knows no compression.
            options |= {**_DRIVER, "compression": False}
            options["settings"] = {**options.get("settings", {}), "server_side_params": True}
            return Client(host, **options).connection


def _connect(connection: Connection, watch: Watch) -> None:
    """Makes sure that the server is there; where it was restarted the connection is made anew."""
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
    """Reads an answer to its end, or up to more rows than anybody is shown; whether it ended."""
    while True:
        packet = connection.receive_packet()
        if packet.type == ServerPacketTypes.EXCEPTION:
            raise packet.exception
        if packet.type == ServerPacketTypes.END_OF_STREAM:
            return True
        # Not among the rows: TOTALS and EXTREMES, which nobody could tell from them.
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
    except Expired:
        raise QueryTimeout("the query ran longer than 10 s") from None
    except Cancelled:
        raise QueryCancelled("whoever asked is gone") from None
    except (TooManyBytes, TooManyValues, UnreadableColumn) as error:
        raise QueryFailed("the result cannot be shown", detail=_reason(error)) from None
    except (Error, EOFError, OSError) as error:
        log.warning("clickhouse_unavailable", reason=type(error).__name__)
        raise Unavailable("ClickHouse is unavailable", code="clickhouse_unavailable") from error


def _reason(error: TooManyBytes | TooManyValues | UnreadableColumn) -> str:
    if isinstance(error, UnreadableColumn):
        name, type_ = (text[:_TOLD_CHARS] for text in (error.name, error.type))
        return f"the column {name} is of type {type_}: try toString() or toJSONString()"
    if isinstance(error, TooManyBytes):
        return "the result is larger than 64 MiB"
    return f"the result holds more than {MAX_VALUES} values, elements of arrays and maps included"
