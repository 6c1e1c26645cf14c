"""Tiles over HTTP: their places, their queries, and moving several at once."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.dashboards import error, made, make_dashboard, put_tile, save_query
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]

NOBODYS = "00000000-0000-4000-8000-000000000000"
PLACE = ("pos_x", "pos_y", "pos_w", "pos_h")
LEAST = dict(zip(PLACE, (0, 0, 1, 1), strict=True))
MOST = dict.fromkeys(PLACE, 1_000_000)


class Board:
    """A dashboard of the organization of `headers`, and a query for its tiles."""

    def __init__(self, client: FlaskClient, headers: Headers) -> None:
        self.client, self.headers = client, headers
        self.id = made(make_dashboard(client, headers))["id"]
        self.query_id = made(save_query(client, headers))["id"]
        self.path = f"/v1/dashboards/{self.id}/tiles"

    def add(self, **body: Any) -> TestResponse:
        """Puts a tile on it."""
        return put_tile(self.client, self.headers, self.id, **{"query_id": self.query_id, **body})

    def replace(self, tile_id: str, **body: Any) -> TestResponse:
        """Replaces a tile."""
        wanted = {"query_id": self.query_id, "chart_type": "bar", **body}
        return self.client.put(f"{self.path}/{tile_id}", json=wanted, headers=self.headers)

    def lay_out(self, *tiles: Any) -> TestResponse:
        """Moves tiles."""
        body = {"tiles": list(tiles)}
        return self.client.put(f"{self.path}/layout", json=body, headers=self.headers)

    def tiles(self) -> list[dict[str, Any]]:
        """Returns the tiles in the order of the answer."""
        response = self.client.get(self.path, headers=self.headers)
        assert response.status_code == 200
        found: list[dict[str, Any]] = response.get_json()["tiles"]
        return found


def place(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in PLACE)


def at(tile: dict[str, Any], *numbers: int) -> dict[str, Any]:
    return {"id": tile["id"], **dict(zip(PLACE, numbers, strict=True))}


@pytest.fixture
def board(client: FlaskClient, key: Key) -> Board:
    """A dashboard without tiles."""
    return Board(client, key())


def test_a_tile_from_its_start_to_its_end(board: Board) -> None:
    config, bound = {"stack": [True, None]}, {"$1": {"from": "filter"}}
    body = {
        "title": " Cost ",
        "chart_type": "area",
        "chart_config": config,
        "param_bindings": bound,
    }
    row = made(board.add(**body, pos_x=3, pos_y=2, pos_w=4, pos_h=5))
    fields = {"id", "dashboard_id", "query_id", "created_at", "updated_at", *body, *PLACE}
    assert row.keys() == fields
    assert {**body, "title": "Cost"}.items() <= row.items()
    assert (row["dashboard_id"], row["query_id"]) == (board.id, board.query_id)
    assert place(row) == (3, 2, 4, 5)
    assert row["created_at"] == row["updated_at"]
    assert board.tiles() == [row]

    other = made(save_query(board.client, board.headers))["id"]
    put = board.replace(row["id"], query_id=other, pos_w=7)
    assert put.status_code == 200
    new = {"query_id": other, "title": "", "chart_type": "bar", "chart_config": {}}
    changed = {**new, "param_bindings": {}, "pos_w": 7}
    assert put.get_json() == {**row, **changed, "updated_at": put.get_json()["updated_at"]}
    assert put.get_json()["updated_at"] > row["updated_at"]
    assert board.tiles() == [put.get_json()]

    path = f"{board.path}/{row['id']}"
    deleted = board.client.delete(path, headers=board.headers)
    assert (deleted.status_code, deleted.get_json()) == (200, {"ok": True})
    assert board.tiles() == []
    assert error(board.client.delete(path, headers=board.headers)) == (404, "not_found")


@pytest.mark.parametrize("kind", ["line", "area", "bar", "stacked_bar", "pie", "kpi", "table"])
def test_every_kind_of_chart(board: Board, kind: str) -> None:
    assert made(board.add(chart_type=kind))["chart_type"] == kind


def test_a_new_tile_lies_below_the_others(board: Board) -> None:
    assert place(made(board.add())) == (0, 0, 6, 4)
    made(board.add(pos_x=8, pos_y=1, pos_h=9, pos_w=1))
    assert place(made(board.add(pos_x=2, pos_w=1))) == (2, 10, 1, 4)
    made(board.add(**MOST))
    assert place(made(board.add())) == (0, 1_000_000, 6, 4)


def test_tiles_are_listed_top_to_bottom_and_left_to_right(board: Board) -> None:
    for x, y in ((1, 1), (0, 1), (5, 0), (0, 10), (0, 2)):
        made(board.add(pos_x=x, pos_y=y))
    listed = board.tiles()
    in_order = [(5, 0), (0, 1), (1, 1), (0, 2), (0, 10)]
    assert [(row["pos_x"], row["pos_y"]) for row in listed] == in_order
    detail = board.client.get(f"/v1/dashboards/{board.id}", headers=board.headers).get_json()
    assert (detail["tiles"], detail["tile_count"]) == (listed, 5)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query_id", None),
        ("query_id", NOBODYS),
        ("query_id", "x"),
        ("query_id", "a\x00b"),
        ("query_id", 7),
        ("title", "t" * 201),
        ("title", "a\nb"),
        ("title", "a\x00b"),
        ("chart_type", None),
        ("chart_type", "donut"),
        ("chart_type", "Line"),
        ("chart_config", []),
        ("chart_config", {"a": "x" * 65_536}),
        ("param_bindings", "a"),
        ("param_bindings", {"a": "x" * 65_536}),
        *((name, value) for name in PLACE for value in (-1, 1_000_001, 2**40, 1.5, "1", True)),
        ("pos_w", 0),
        ("pos_h", 0),
    ],
)
def test_bad_values_are_refused(board: Board, field: str, value: object) -> None:
    tile = made(board.add())
    for answer in (board.add(**{field: value}), board.replace(tile["id"], **{field: value})):
        assert answer.status_code == 422
        assert answer.get_json()["fields"].keys() == {field}
    assert board.tiles() == [tile]


@pytest.mark.parametrize("numbers", [LEAST, MOST])
def test_the_least_and_the_most_of_a_place(board: Board, numbers: dict[str, int]) -> None:
    tile = made(board.add(**numbers))
    assert place(tile) == tuple(numbers.values())
    assert board.lay_out({"id": tile["id"], **numbers}).get_json() == {"updated": 1}


def test_a_query_of_another_organization_is_none(
    board: Board, client: FlaskClient, runtime: Runtime
) -> None:
    theirs = made(save_query(client, new_key(runtime, make_org(runtime))))["id"]
    tile = made(board.add())
    for answer in (board.add(query_id=theirs), board.replace(tile["id"], query_id=theirs)):
        assert answer.get_json()["fields"].keys() == {"query_id"}
        nobodys = board.add(query_id=NOBODYS).get_json()
        assert answer.get_json()["fields"] == nobodys["fields"]
    assert board.tiles() == [tile]


def test_tiles_move_all_at_once(board: Board) -> None:
    one, two, three = (made(board.add()) for _ in range(3))
    answer = board.lay_out(at(two, 0, 0, 12, 2), at(one, 4, 2, 3, 1))
    assert (answer.status_code, answer.get_json()) == (200, {"updated": 2})
    moved = board.tiles()
    assert [row["id"] for row in moved] == [two["id"], one["id"], three["id"]]
    assert [place(row) for row in moved] == [(0, 0, 12, 2), (4, 2, 3, 1), (0, 8, 6, 4)]
    assert moved[0]["updated_at"] > two["updated_at"]
    assert moved[2] == three
    # Only the place changed.
    for row, before in ((moved[0], two), (moved[1], one)):
        rest = {name: before[name] for name in before.keys() - {*PLACE, "updated_at"}}
        assert rest.items() <= row.items()
    assert board.lay_out().get_json() == {"updated": 0}


def test_a_layout_with_a_tile_that_is_not_there_moves_none(
    board: Board, client: FlaskClient, runtime: Runtime
) -> None:
    tile = made(board.add())
    sibling = made(Board(client, board.headers).add())
    theirs = made(Board(client, new_key(runtime, make_org(runtime))).add())
    for other in (NOBODYS, "x", "a\x00b", sibling["id"], theirs["id"]):
        for layout in itertools.permutations([at(tile, 9, 9, 9, 9), at({"id": other}, 1, 1, 1, 1)]):
            assert error(board.lay_out(*layout)) == (404, "not_found")
    assert board.tiles() == [tile]


def test_a_layout_names_each_tile_once_and_each_bad_field(board: Board) -> None:
    one, two = (made(board.add()) for _ in range(2))
    again = {**at(one, 1, 1, 1, 1), "id": one["id"].upper()}
    for layout, named in (
        ((at(one, 1, 1, 1, 1), at(two, 2, 2, 2, 2), again), {"tiles.2.id"}),
        ((at(one, 1, 1, 1, 1), at(two, -1, 0, 0, 10**6 + 1)),
         {"tiles.1.pos_x", "tiles.1.pos_w", "tiles.1.pos_h"}),
        (({**at(one, 1, 1, 1, 1), "pos_x": None},), {"tiles.0.pos_x"}),
        (({"id": one["id"], "pos_x": 0},), {"tiles.0.pos_y", "tiles.0.pos_w", "tiles.0.pos_h"}),
        ((7,), {"tiles.0"}),
    ):  # fmt: skip
        refused = board.lay_out(*layout)
        assert refused.status_code == 422
        assert refused.get_json()["fields"].keys() == named
    assert board.tiles() == [one, two]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_tile_is_found_on_its_own_dashboard_only(
    board: Board, client: FlaskClient, runtime: Runtime, method: str
) -> None:
    tile = made(board.add())
    sibling = Board(client, board.headers)
    stranger = Board(client, new_key(runtime, make_org(runtime)))
    for whose, dashboard_id, tile_id in (
        (board, sibling.id, tile["id"]),
        (board, board.id, made(sibling.add())["id"]),
        (board, board.id, NOBODYS),
        (board, board.id, "x"),
        (stranger, board.id, tile["id"]),
        (stranger, stranger.id, tile["id"]),
    ):
        path = f"/v1/dashboards/{dashboard_id}/tiles/{tile_id}"
        body = {"query_id": whose.query_id, "chart_type": "pie"} if method == "PUT" else None
        answer = client.open(path, method=method, json=body, headers=whose.headers)
        assert error(answer) == (404, "not_found")
    assert board.tiles() == [tile]
    assert error(put_tile(client, stranger.headers, board.id, stranger.query_id))[0] == 404


@pytest.mark.parametrize(
    ("rows", "size", "code"), [(500, 1, "too_many"), (1, 4_194_290, "too_large_together")]
)
def test_a_dashboard_has_room_for_so_many_tiles(
    board: Board, runtime: Runtime, org: Org, rows: int, size: int, code: str
) -> None:
    insert = text(
        "INSERT INTO dashboard_tiles (id, org_id, dashboard_id, query_id, chart_type, chart_config,"
        " param_bindings, pos_x, pos_y, pos_w, pos_h)"
        " SELECT gen_random_uuid(), :org_id, :dashboard_id, :query_id, 'pie',"
        " json_build_object('a', repeat('x', :size)), '{}', 0, 0, 1, 1"
        " FROM generate_series(1, :rows)"
    )
    values = {"dashboard_id": board.id, "query_id": board.query_id, "org_id": org.uuid}
    with runtime.postgres.transaction() as session:
        session.execute(insert, {**values, "size": size, "rows": rows})
    assert error(board.add()) == (409, code)
    tile_id = board.tiles()[0]["id"]
    # A full dashboard can still replace content of the same size. Others have their own limit.
    assert board.replace(tile_id).status_code == 200
    made(Board(board.client, board.headers).add())
