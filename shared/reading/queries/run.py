"""One run of people's SQL, from the guard to the log, for the web tier and for alerts."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from shared.foundation.clickhouse.published import schema_of
from shared.foundation.core.errors import QueryFailed, Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import SQL_RUNS, SQL_SECS
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import OF_PEOPLE, QueryPlaces, QuerySlots
from shared.reading.queries.guard.lexer import MAX_LENGTH
from shared.reading.queries.guard.statement import guard
from shared.reading.queries.results.reader import Reader, Result, never

log = get_logger(__name__)

# The limit for parameters; a statement that passes the guard is logged whole.
_LOGGED_CHARS = MAX_LENGTH


@dataclass(frozen=True)
class QueryOwner:
    """The organization for which a statement runs, and a name for the log.

    With `keeps_text` the log gets a digest in place of the statement, its parameters and the
    database's words about it.
    """

    org_id: str
    name: str
    keeps_text: bool = False


@dataclass(frozen=True)
class Run:
    """A result, and the milliseconds from the guard to its last row."""

    result: Result
    elapsed_ms: int


class QueryRunner:
    """The resources of a process to run statements.

    Without CLICKHOUSE_READONLY_URL it runs none.
    """

    def __init__(
        self, runtime: Runtime, *, pool_size: int, places: QueryPlaces = OF_PEOPLE
    ) -> None:
        self._slots = QuerySlots(runtime.redis, runtime.clickhouse, places)
        self._url = runtime.settings.clickhouse_readonly_url
        self._reader = None if self._url is None else Reader(self._url, pool_size=pool_size)

    @property
    def schema(self) -> str:
        """Returns the database of the published tables; raises `Unavailable` if there is none."""
        if self._url is None:
            raise _unavailable()
        return schema_of(self._url)

    def run(
        self,
        asker: QueryOwner,
        sql: str,
        params: Sequence[object],
        *,
        cancelled: Callable[[], bool] = never,
    ) -> Run:
        """Runs one statement over the asker's organization; `$N` in it is the N-th of `params`.

        Raises `Invalid` if the guard refuses it, `QueryFailed` if the database does, `RateLimited`,
        `QueryTimeout`, `Unavailable`, and `QueryCancelled` once `cancelled` returns true.
        """
        started = time.monotonic()
        line = _Line(asker, sql, params)
        try:
            result = self._run(asker, sql, params, cancelled)
            line.outcome, line.rows = "ok", len(result.rows)
        except WatchpostError as error:
            line.fail(error)
            raise
        finally:
            line.duration_ms = round((time.monotonic() - started) * 1000)
            line.write()
        return Run(result, line.duration_ms)

    def _run(
        self, asker: QueryOwner, sql: str, params: Sequence[object], cancelled: Callable[[], bool]
    ) -> Result:
        if self._reader is None:
            raise _unavailable()
        statement = guard(sql, params, schema=self.schema)
        with self._slots.hold(asker.org_id) as slot:
            return self._reader.run(
                asker.org_id,
                statement.sql,
                statement.params,
                cancelled=cancelled,
                left=slot.leave,
            )

    def close(self) -> None:
        """Closes idle connections."""
        if self._reader is not None:
            self._reader.close()


def log_refused(asker: QueryOwner, error: WatchpostError, sql: object, params: object) -> None:
    """Logs a run refused before it reached a `QueryRunner`; `sql` and `params` are as sent."""
    line = _Line(asker, sql if isinstance(sql, str) else "", params)
    line.fail(error)
    line.write()


@dataclass
class _Line:
    """The line of the log that every run has; a run that says nothing else has crashed."""

    asker: QueryOwner
    sql: str
    params: object
    duration_ms: int = 0
    rows: int = 0
    outcome: str = "crashed"
    reason: str | None = None

    def fail(self, error: WatchpostError) -> None:
        """Notes the code of the error and its reason, the database's words included."""
        self.outcome = error.code
        self.reason = error.detail if isinstance(error, QueryFailed) else error.message

    def write(self) -> None:
        """Writes the line, and counts the run."""
        SQL_RUNS.add(1, self.outcome)
        SQL_SECS.observe(self.duration_ms / 1000)
        log.info(
            "query_run",
            who=self.asker.name,
            org_id=self.asker.org_id,
            **self._texts(),
            duration_ms=self.duration_ms,
            rows=self.rows,
            outcome=self.outcome,
        )

    def _texts(self) -> dict[str, object]:
        if self.asker.keeps_text:
            digest = hashlib.sha256(self.sql.encode(errors="replace")).hexdigest()
            return {"sql_sha256": digest, "sql_chars": len(self.sql)}
        params = msgspec.json.encode(self.params).decode()
        return {
            "sql": self.sql[:_LOGGED_CHARS],
            "params": params[:_LOGGED_CHARS],
            "reason": self.reason,
        }


def _unavailable() -> Unavailable:
    log.warning("queries_unavailable", reason="CLICKHOUSE_READONLY_URL is not set")
    return Unavailable("this deployment does not run queries", code="queries_unavailable")
