"""Writers of one dashboard take turns: all or nothing, without deadlocks."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.deployment.runtime import Runtime
from shared.reading.dashboards import service, tiles
from shared.reading.dashboards.rules import DashboardContent, TileContent, TilePlace
from shared.reading.queries import service as queries
from shared.reading.queries.service import QueryContent
from tests.support.processes import wait_until
from tests.support.runtime import Org

TILES = 3


class Board:
    """A dashboard with three tiles of one query."""

    def __init__(self, runtime: Runtime, org: Org) -> None:
        self.runtime, self.org_id = runtime, org.uuid
        with runtime.postgres.transaction() as session:
            content = QueryContent("q", "", "SELECT count() FROM events", [])
            query = queries.create(session, self.org_id, content, schema="", created_by="t")
            wanted = DashboardContent("d", "", {})
            dashboard = service.create(session, self.org_id, wanted, created_by="t")
            self.id, self.query_id = str(dashboard.id), str(query.id)
            self.tile_ids = [str(self.add(session)) for _ in range(TILES)]

    def add(self, session: Session) -> uuid.UUID:
        """Adds a tile and returns its id."""
        wanted = TileContent(self.query_id, "", "pie", {}, {}, {})
        return tiles.create(session, self.org_id, self.id, wanted).id

    def lay_out(self, session: Session, tile_ids: list[str], column: int) -> None:
        """Moves these tiles into one column."""
        places = [(one, TilePlace(column, row, 1, 1)) for row, one in enumerate(tile_ids)]
        tiles.lay_out(session, self.org_id, self.id, places)

    def columns(self) -> list[int]:
        """Returns the columns of the remaining tiles."""
        with self.runtime.postgres.transaction() as session:
            return [tile.pos_x for tile in tiles.list_(session, self.org_id, self.id)]


@pytest.fixture
def board(runtime: Runtime, org: Org) -> Board:
    return Board(runtime, org)


@pytest.fixture
def beside(runtime: Runtime) -> Iterator[Callable[..., Future[None]]]:
    """`beside(write, …)` starts a write in a separate transaction and returns while it waits."""

    def run(write: Callable[..., object], *args: object) -> None:
        with runtime.postgres.transaction() as session:
            write(session, *args)

    def start(write: Callable[..., object], *args: object) -> Future[None]:
        future = pool.submit(run, write, *args)
        wait_until(lambda: future.done() or waiting(runtime))
        assert not future.done(), future.exception()
        return future

    with ThreadPoolExecutor(2) as pool:
        yield start


def waiting(runtime: Runtime) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with runtime.postgres.transaction() as session:
        return bool(session.scalar(text(query)))


def test_layouts_in_opposite_orders_take_turns(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        board.lay_out(session, board.tile_ids, 1)
        session.flush()
        later = beside(board.lay_out, board.tile_ids[::-1], 2)
        # No reader sees a part of a layout, or one that is not committed.
        assert board.columns() == [0] * TILES
    later.result()
    assert board.columns() == [2] * TILES


def test_many_layouts_at_once_leave_one_of_them_whole(board: Board, runtime: Runtime) -> None:
    def write(column: int) -> None:
        for turn in range(15):
            with runtime.postgres.transaction() as session:
                board.lay_out(session, board.tile_ids[:: 1 if turn % 2 else -1], column)

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(write, column) for column in (1, 2)]
        while not all(future.done() for future in futures):
            assert len(set(board.columns())) == 1
        for future in futures:
            future.result()


def test_a_layout_that_waited_for_a_delete_moves_none(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        tiles.delete(session, board.org_id, board.id, board.tile_ids[1])
        session.flush()
        later = beside(board.lay_out, board.tile_ids, 1)
    with pytest.raises(NotFound):
        later.result()
    assert board.columns() == [0] * (TILES - 1)


def test_a_delete_that_waited_for_a_layout_takes_its_tile(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        board.lay_out(session, board.tile_ids, 1)
        session.flush()
        later = beside(tiles.delete, board.org_id, board.id, board.tile_ids[1])
    later.result()
    assert board.columns() == [1] * (TILES - 1)


def test_a_layout_that_waited_for_the_dashboards_end_finds_none(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        service.delete(session, board.org_id, board.id)
        session.flush()
        later = beside(board.lay_out, board.tile_ids, 1)
    with pytest.raises(NotFound):
        later.result()


def test_a_query_that_is_being_shown_is_not_deleted(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        for tile_id in board.tile_ids:
            tiles.delete(session, board.org_id, board.id, tile_id)
    with runtime.postgres.transaction() as session:
        board.add(session)
        later = beside(service.delete_query, board.org_id, board.query_id)
    with pytest.raises(Conflict, match="1 tile on 1 dashboard"):
        later.result()


def test_a_query_that_is_being_deleted_is_not_shown(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        for tile_id in board.tile_ids:
            tiles.delete(session, board.org_id, board.id, tile_id)
    with runtime.postgres.transaction() as session:
        service.delete_query(session, board.org_id, board.query_id)
        session.flush()
        later = beside(board.add)
    with pytest.raises(Invalid, match="query_id"):
        later.result()


def test_tiles_that_are_added_at_once_lie_below_each_other(
    board: Board, runtime: Runtime, beside: Callable[..., Future[None]]
) -> None:
    with runtime.postgres.transaction() as session:
        board.add(session)
        later = beside(board.add)
    later.result()
    with runtime.postgres.transaction() as session:
        found = tiles.list_(session, board.org_id, board.id)
    assert [tile.pos_y for tile in found] == [0, 4, 8, 12, 16]
