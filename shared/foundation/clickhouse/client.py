"""ClickHouse over the native protocol: a small thread-safe pool around clickhouse-driver."""

import queue
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from clickhouse_driver import Client
from clickhouse_driver.columns.boolcolumn import BoolColumn
from clickhouse_driver.errors import Error, NetworkError, ServerException, SocketTimeoutError

from shared.foundation.clickhouse import encoding
from shared.foundation.clickhouse.layout import Layout, local
from shared.foundation.core.connection_queue import ConnectionQueue, NoPlace
from shared.foundation.core.errors import QueryTimeout, Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.core.tracing.statements import Statements

log = get_logger(__name__)

# ClickHouse omits the default value of a column that nearly every row has, and the driver fills it
# in. For Bool it uses the number 0, which is not false in JSON.
BoolColumn.null_value = False
encoding.install()

Row = tuple[Any, ...]

_TABLES = ("events", "agent_sessions", "evaluations", "own_evaluations")
_STATEMENTS = Statements("clickhouse", {*_TABLES, *map(local, _TABLES)})

# Codes from ClickHouse's ErrorCodes.cpp that mean "not now": the server's state is the cause, not
# the statement.
_TRANSIENT_CODES = frozenset(
    {
        95,  # CANNOT_READ_FROM_SOCKET
        96,  # CANNOT_WRITE_TO_SOCKET
        159,  # TIMEOUT_EXCEEDED
        202,  # TOO_MANY_SIMULTANEOUS_QUERIES
        203,  # NO_FREE_CONNECTION
        209,  # SOCKET_TIMEOUT
        210,  # NETWORK_ERROR
        225,  # NO_ZOOKEEPER
        236,  # ABORTED, by a server that shuts down
        241,  # MEMORY_LIMIT_EXCEEDED
        242,  # TABLE_IS_READ_ONLY
        243,  # NOT_ENOUGH_SPACE
        252,  # TOO_MANY_PARTS
        254,  # NO_ACTIVE_REPLICAS
        279,  # ALL_CONNECTION_TRIES_FAILED, to a shard
        286,  # UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
        319,  # UNKNOWN_STATUS_OF_INSERT
        394,  # QUERY_WAS_CANCELLED
        425,  # SYSTEM_ERROR
        999,  # KEEPER_EXCEPTION
    }
)
# The code of a shard that was lost in the middle of a statement. Data that cannot be read have it
# too, so the text decides.
_EOF_CODE = 32
_TIMEOUT_CODE = 159
# The driver decodes several blocks of profile events for each SELECT and drops them, which took it
# half of its time. It waits for those of an INSERT.
_SELECT = {"send_profile_events": 0}
_MEMORY_CODE = 241


class OverMemory(Unavailable):
    """A statement needs more memory than one statement may use, even on an idle server.

    It is a kind of `Unavailable` for callers that cannot ask for less: rows that wait to be stored
    keep waiting.
    """


def is_transient(error: ServerException) -> bool:
    """Returns whether the same statement may succeed later."""
    if error.code == _EOF_CODE:
        return "while receiving packet from" in str(error.message)
    return error.code in _TRANSIENT_CODES


def is_over_own_memory(error: ServerException) -> bool:
    """Returns whether the statement hit its own memory limit, not the limit of all together."""
    # After these words a message may quote the statement.
    told = str(error.message).partition(" exceeded")[0]
    return error.code == _MEMORY_CODE and told.endswith("Query memory limit")


class ClickHouse:
    """A process's connections to one ClickHouse user.

    Every method raises `Unavailable` if the server cannot be reached or is busy (`OverMemory` if
    the statement is too large for it), `QueryTimeout` if a statement ran out of time, and
    clickhouse-driver's `ServerException` for any other refusal.
    """

    def __init__(self, url: str, *, pool_size: int = 16, cluster: str | None = None) -> None:
        """Prepares the pool; `cluster` is CLICKHOUSE_CLUSTER for the user that owns the tables."""
        self.layout = Layout(cluster, urlsplit(url).path.strip("/") or "default")
        self._url = url
        self._idle: queue.LifoQueue[Client] = queue.LifoQueue()
        self._queue = ConnectionQueue(pool_size, patient=max(1, pool_size // 2), pool="clickhouse")

    def rows(
        self,
        sql: str,
        params: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
        query_id: str | None = None,
    ) -> list[Row]:
        """Returns all rows of a SELECT.

        Binds `{name:Type}` in `sql` on the server from `params`.
        """
        with self._client(sql) as client:
            result: list[Row] = client.execute(
                sql, _bindable(params), settings={**_SELECT, **(settings or {})}, query_id=query_id
            )
            return result

    def columns(
        self,
        sql: str,
        params: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> list[Sequence[Any]]:
        """Returns the columns of a SELECT, each with a value for every row; [] without rows.

        Takes less time and memory than rows, if there are thousands of them.
        """
        with self._client(sql) as client:
            result: list[Sequence[Any]] = client.execute(
                sql, _bindable(params), settings={**_SELECT, **(settings or {})}, columnar=True
            )
            return result

    def execute(self, sql: str, params: Mapping[str, object] | None = None) -> None:
        """Runs a statement that returns nothing, such as DDL or a delete."""
        with self._client(sql) as client:
            client.execute(sql, _bindable(params))

    def stream(self, sql: str, params: Mapping[str, object] | None = None) -> Iterator[Row]:
        """Yields the rows of a SELECT as they arrive, in bounded memory."""
        return self.stream_with({}, sql, params)

    def stream_with(
        self, settings: Mapping[str, object], sql: str, params: Mapping[str, object] | None = None
    ) -> Iterator[Row]:
        """Does the same with settings of the statement."""
        with self._client(sql) as client:
            all_settings = {**_SELECT, "max_block_size": 2048, **settings}
            yield from client.execute_iter(sql, _bindable(params), settings=all_settings)

    def insert_rows(
        self,
        statement: str,
        rows: Sequence[Sequence[object]],
        *,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Runs an `INSERT … SELECT … FROM input(…) FORMAT Native` over rows."""
        with self._client(statement) as client:
            client.execute(statement, rows, settings=dict(settings or {}))

    def insert(
        self,
        table: str,
        columns: Mapping[str, Sequence[object]],
        *,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Inserts one columnar block; every column has the same length."""
        names = ", ".join(columns)
        statement = f"INSERT INTO {table} ({names}) VALUES"
        with self._client(statement) as client:
            client.execute(
                statement,
                list(columns.values()),
                columnar=True,
                settings=dict(settings or {}),
            )

    def insert_joined(
        self,
        statement: str,
        params: Mapping[str, object],
        name: str,
        structure: Sequence[tuple[str, str]],
        rows: Sequence[Sequence[object]],
        *,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Runs an `INSERT … SELECT …` that reads `rows` as the table `name`.

        `structure` has the names and types of its columns.
        """
        sent = {"name": name, "structure": list(structure), "data": rows}
        with self._client(statement) as client:
            client.execute(
                statement,
                _bindable(params),
                external_tables=[sent],
                settings=dict(settings or {}),
            )

    def close(self) -> None:
        """Closes the idle connections."""
        while True:
            try:
                self._idle.get_nowait().disconnect()
            except queue.Empty:
                return

    @contextmanager
    def _client(self, sql: str) -> Iterator[Client]:
        try:
            with _STATEMENTS.span(sql), self._queue.place(), self._connected() as client:
                yield client
        except NoPlace:
            log.warning("clickhouse_unavailable", reason="no free connection")
            raise Unavailable("ClickHouse is busy", code="clickhouse_unavailable") from None

    @contextmanager
    def _connected(self) -> Iterator[Client]:
        client = self._take()
        healthy = False
        try:
            with _translated():
                yield client
            healthy = True
        except ServerException:
            healthy = True
            raise
        finally:
            if healthy:
                self._idle.put(client)
            else:
                # The reader stopped halfway or the socket broke, so this connection cannot be used
                # again.
                client.disconnect()

    def _take(self) -> Client:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return Client.from_url(_with_defaults(self._url, self.layout))


def _with_defaults(url: str, layout: Layout) -> str:
    separator = "&" if "?" in url else "?"
    return (
        f"{url}{separator}connect_timeout=5&send_receive_timeout=60&sync_request_timeout=5"
        "&server_side_params=True&tcp_keepalive=True"
    ) + "".join(f"&{name}={value}" for name, value in layout.settings.items())


def _bindable(params: Mapping[str, object] | None) -> dict[str, object] | None:
    return None if params is None else dict(params)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ServerException as error:
        if error.code == _TIMEOUT_CODE:
            raise QueryTimeout("the query ran longer than its limit") from error
        if is_over_own_memory(error):
            log.warning("clickhouse_over_memory")
            raise OverMemory("ClickHouse is busy", code="clickhouse_unavailable") from error
        if is_transient(error):
            log.warning("clickhouse_unavailable", code=error.code)
            raise Unavailable("ClickHouse is busy", code="clickhouse_unavailable") from error
        raise
    except (NetworkError, SocketTimeoutError, EOFError, ConnectionError, OSError) as error:
        log.warning("clickhouse_unavailable", reason=type(error).__name__)
        raise Unavailable("ClickHouse is unavailable", code="clickhouse_unavailable") from error
    except Error as error:
        log.warning("clickhouse_unavailable", reason=type(error).__name__)
        raise Unavailable(
            "ClickHouse sent an answer that cannot be read", code="clickhouse_unavailable"
        ) from error
