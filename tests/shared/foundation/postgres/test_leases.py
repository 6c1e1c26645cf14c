"""One worker at a time holds a row, and a worker that lost it changes nothing."""

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from sqlalchemy import Row, func, select, text, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Postgres, leases
from shared.foundation.postgres.leases import LeaseColumns, RowLease, in_secs, kept, take
from tests.support.processes import wait_until


class _Base(DeclarativeBase):
    """Apart from the project's tables, which migrations create."""


class Piece(LeaseColumns, _Base):
    """A piece of work."""

    __tablename__ = "pieces_of_work"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    attempts: Mapped[int] = mapped_column(default=0)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Postgres]:
    """PostgreSQL with an empty table of pieces."""
    made = Postgres(postgres_url)
    _Base.metadata.create_all(made.engine)
    yield made
    _Base.metadata.drop_all(made.engine)
    made.close()


@pytest.fixture
def piece(postgres: Postgres) -> uuid.UUID:
    with postgres.transaction() as session:
        made = Piece()
        session.add(made)
        session.flush()
        return made.id


def took(session: Session, piece: uuid.UUID, secs: float = 60.0) -> RowLease | None:
    counted = Piece.attempts + 1
    lease, rows = take(
        session, Piece, Piece.id == piece, secs, (Piece.id, Piece.attempts), attempts=counted
    )
    assert [row.id for row in rows] in ([], [piece])
    return lease if rows else None


def taken(postgres: Postgres, piece: uuid.UUID, secs: float = 60.0) -> RowLease:
    with postgres.transaction() as session:
        lease = took(session, piece, secs)
    assert lease is not None
    return lease


def is_free(postgres: Postgres, piece: uuid.UUID) -> bool:
    query = select(Piece.id).where(Piece.id == piece, text(leases.FREE))
    with postgres.transaction() as session:
        return session.scalar(query) is not None


def row_of(postgres: Postgres, piece: uuid.UUID) -> Row[int, uuid.UUID | None, datetime | None]:
    columns = (Piece.attempts, Piece.lease_token, Piece.lease_expires_at)
    with postgres.transaction() as session:
        return session.execute(select(*columns).where(Piece.id == piece)).one()


def end_lease(postgres: Postgres, piece: uuid.UUID) -> None:
    """Lets the lease expire."""
    with postgres.transaction() as session:
        session.execute(
            update(Piece)
            .where(Piece.id == piece)
            .values(lease_expires_at=func.statement_timestamp())
        )


def secs_left(postgres: Postgres, piece: uuid.UUID) -> float:
    left = func.extract("epoch", Piece.lease_expires_at - func.clock_timestamp())
    with postgres.transaction() as session:
        return float(session.execute(select(left).where(Piece.id == piece)).scalar_one())


def test_one_of_many_that_take_at_once_has_the_row(postgres: Postgres, piece: uuid.UUID) -> None:
    together = threading.Barrier(8)

    def worker(_number: int) -> RowLease | None:
        with postgres.transaction() as session:
            session.execute(select(1))
            together.wait(30)
            return took(session, piece)

    with ThreadPoolExecutor(8) as pool:
        held = [lease for lease in pool.map(worker, range(8)) if lease is not None]
    attempts, token, _ = row_of(postgres, piece)
    assert [lease.token for lease in held] == [token]
    assert attempts == 1


def waits_for_a_lock(postgres: Postgres) -> bool:
    with postgres.transaction() as session:
        return bool(session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


def test_a_second_worker_that_waits_for_the_first_takes_nothing(
    postgres: Postgres, piece: uuid.UUID
) -> None:
    with ThreadPoolExecutor(1) as pool, postgres.transaction() as session:
        first = took(session, piece)
        second = pool.submit(taken, postgres, piece)
        wait_until(lambda: waits_for_a_lock(postgres))
        assert not second.done()
        session.commit()
        with pytest.raises(AssertionError):
            second.result(30)
    assert first is not None
    assert row_of(postgres, piece).lease_token == first.token


def test_a_held_row_is_exclusive_until_the_lease_expires(
    postgres: Postgres, piece: uuid.UUID
) -> None:
    assert is_free(postgres, piece)
    first = taken(postgres, piece)
    assert 50 < secs_left(postgres, piece) <= 60
    assert not is_free(postgres, piece)
    with postgres.transaction() as session:
        assert took(session, piece) is None
    end_lease(postgres, piece)
    assert is_free(postgres, piece)
    second = taken(postgres, piece)
    assert second.token != first.token
    assert row_of(postgres, piece).attempts == 2


def test_a_renewed_lease_lasts_from_now(postgres: Postgres, piece: uuid.UUID) -> None:
    lease = taken(postgres, piece, secs=1.0)
    with postgres.transaction() as session:
        assert lease.renew(session, 60.0, only_live=True, attempts=Piece.attempts + 1)
    assert secs_left(postgres, piece) > 50
    assert row_of(postgres, piece).attempts == 2


def test_an_expired_lease_is_renewed_only_where_a_late_start_is_harmless(
    postgres: Postgres, piece: uuid.UUID
) -> None:
    lease = taken(postgres, piece)
    end_lease(postgres, piece)
    with postgres.transaction() as session:
        assert not lease.renew(session, 60.0, only_live=True, attempts=9)
    assert is_free(postgres, piece)
    assert row_of(postgres, piece).attempts == 1
    with postgres.transaction() as session:
        assert lease.renew(session, 60.0)
    assert not is_free(postgres, piece)


def test_a_worker_that_lost_the_row_changes_nothing(postgres: Postgres, piece: uuid.UUID) -> None:
    late = taken(postgres, piece)
    end_lease(postgres, piece)
    taken(postgres, piece)
    before = row_of(postgres, piece)
    with postgres.transaction() as session:
        assert not late.end(session, attempts=9)
        assert not late.renew(session, 600.0, attempts=9)
        assert session.scalar(select(Piece.id).where(late.held)) is None
    assert row_of(postgres, piece) == before


def test_an_ended_row_is_free_with_its_new_values(postgres: Postgres, piece: uuid.UUID) -> None:
    lease = taken(postgres, piece)
    with postgres.transaction() as session:
        assert session.scalar(select(Piece.id).where(lease.held)) == piece
        assert lease.end(session, attempts=7)
    assert row_of(postgres, piece) == (7, None, None)
    with postgres.transaction() as session:
        assert not lease.end(session, attempts=8)


def test_a_row_given_back_for_later_is_free_only_then(postgres: Postgres, piece: uuid.UUID) -> None:
    lease = taken(postgres, piece)
    with postgres.transaction() as session:
        lease.end(session, lease_expires_at=in_secs(60.0))
    assert row_of(postgres, piece).lease_token is None
    assert not is_free(postgres, piece)
    end_lease(postgres, piece)
    assert is_free(postgres, piece)


def test_a_kept_lease_is_renewed_until_the_block_ends(
    postgres: Postgres, piece: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6000)
    lease = taken(postgres, piece, secs=1.0)
    with kept(postgres, lease, 60.0) as lost:
        while secs_left(postgres, piece) < 10:
            assert not lost.is_set()
    ended = row_of(postgres, piece)
    # Ten times the pause between two renewals, of which none may come.
    time.sleep(0.1)
    assert row_of(postgres, piece) == ended


def test_a_kept_lease_says_that_another_worker_has_the_row(
    postgres: Postgres, piece: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6000)
    lease = taken(postgres, piece)
    with postgres.transaction() as session:
        session.execute(update(Piece).values(lease_token=new_id()))
    with kept(postgres, lease, 60.0) as lost:
        assert lost.wait(30)


def test_work_that_takes_too_long_loses_its_lease(
    postgres: Postgres, piece: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6000)
    lease = taken(postgres, piece)
    before = row_of(postgres, piece)
    with kept(postgres, lease, 60.0, longest_secs=0.0) as lost:
        assert lost.wait(30)
    assert row_of(postgres, piece) == before


def test_a_kept_lease_outlasts_an_outage(
    postgres: Postgres, piece: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6000)
    lease = taken(postgres, piece, secs=1.0)
    failed, renew = threading.Event(), RowLease.renew

    def first_fails(*args: object, **kwargs: object) -> bool:
        if not failed.is_set():
            failed.set()
            raise Unavailable("the database is unavailable", code="postgres_unavailable")
        return renew(*args, **kwargs)  # type: ignore[arg-type] # as they came

    monkeypatch.setattr(RowLease, "renew", first_fails)
    with kept(postgres, lease, 60.0) as lost:
        while secs_left(postgres, piece) < 10:
            assert not lost.is_set()
    assert failed.is_set()
