"""Sessions on PostgreSQL: one transaction per `with` block, and work that waits for its commit."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import create_engine, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from shared.foundation.core.connection_queue import ConnectionQueue, NoPlace
from shared.foundation.core.errors import NotFound, Unavailable
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

_AFTER_COMMIT = "after_commit"

# Every foreign key of this column points to `organizations`.
_ORG_IS_GONE = re.compile(r'constraint "fk_\w+_org_id(_user_id)?"')

# A dead peer is noticed while the client still waits: after 15 s of silence, or if our own packets
# are not acknowledged. The server ends statements after 30 s. None of this notices a server that
# hangs on a machine that is alive; `ConnectionQueue` limits the threads that it can block.
#
# The server also ends sessions that are idle for 30 s. The pool gives out the connection that was
# used last, so those that only a burst needed become idle, and each is 3 MB of the server.
_CONNECT_ARGS = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,
    "options": "-c statement_timeout=30000 -c idle_session_timeout=30000 -c timezone=UTC",
}


def sqlalchemy_url(url: str) -> str:
    """Rewrites `postgres://…` and `postgresql://…` as SQLAlchemy names the psycopg2 driver."""
    parsed = make_url(url.replace("postgres://", "postgresql://", 1))
    return parsed.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)


class Postgres:
    """A process's pool of PostgreSQL connections."""

    def __init__(self, url: str, *, pool_size: int = 16) -> None:
        self._queue = ConnectionQueue(pool_size, patient=max(1, pool_size // 2), pool="postgres")
        self.engine = create_engine(
            sqlalchemy_url(url),
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=10,
            pool_use_lifo=True,
            pool_pre_ping=True,
            pool_recycle=1800,
            connect_args=_CONNECT_ARGS,
            hide_parameters=True,  # errors are logged, and values must not be
        )

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Opens a session that commits at the end of the block and rolls back if the block raises.

        Raises `Unavailable` if PostgreSQL cannot be reached or goes away, `NotFound` if a row is
        written for an organization that no longer exists.
        """
        with _unavailable_when_gone():
            with (
                self._queue.place(),
                Session(self.engine, expire_on_commit=False) as session,
                session.begin(),
            ):
                yield session
            for callback in session.info.get(_AFTER_COMMIT, ()):
                callback()

    def close(self) -> None:
        """Closes the idle connections."""
        self.engine.dispose()


def after_commit(session: Session, callback: Callable[[], object]) -> None:
    """Runs `callback` once the session's transaction is committed; never after a rollback."""
    session.info.setdefault(_AFTER_COMMIT, []).append(callback)


def transaction_time(session: Session) -> datetime:
    """Returns when the session's transaction began, by the clock that all processes share."""
    return session.execute(select(func.now())).scalar_one()


@contextmanager
def _unavailable_when_gone() -> Iterator[None]:
    try:
        yield
    except (NoPlace, PoolTimeout) as error:
        log.warning("postgres_unavailable", reason="no free connection")
        raise Unavailable("the database is busy", code="postgres_unavailable") from error
    except IntegrityError as error:
        # The organization was purged, or the membership removed, after the identity was looked up.
        if _ORG_IS_GONE.search(str(error.orig)):
            raise NotFound("there is no such organization", code="org_not_found") from error
        raise
    except DBAPIError as error:
        if isinstance(error, (OperationalError, InterfaceError)) or error.connection_invalidated:
            log.warning("postgres_unavailable", reason=type(error.orig).__name__)
            raise Unavailable("the database is unavailable", code="postgres_unavailable") from error
        raise


def present_time(session: Session) -> datetime:
    """Returns the time of this call, by the same clock.

    For rows whose lock a transaction waited for: its own time may lie before that of the holder.
    """
    moment: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return moment
