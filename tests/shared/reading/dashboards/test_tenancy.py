"""No tile refers to another organization, and every query names the organization."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

from shared.access.organizations import creations
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from shared.reading.dashboards import service, tiles
from shared.reading.dashboards.models import Dashboard, Tile
from shared.reading.dashboards.rules import DashboardContent, TileContent, TilePlace
from shared.reading.queries import service as queries
from shared.reading.queries.models import SavedQuery
from shared.reading.queries.service import QueryContent
from tests.support.runtime import Org, make_org


def store_pair(runtime: Runtime, org: Org) -> tuple[uuid.UUID, uuid.UUID]:
    """Stores a dashboard and a query and returns their ids."""
    with runtime.postgres.transaction() as session:
        dashboard = Dashboard(org_id=org.uuid, name="d", definition={})
        query = SavedQuery(org_id=org.uuid, name="q", sql_text="SELECT 1", params=[])
        session.add_all([dashboard, query])
        session.flush()
        return dashboard.id, query.id


@pytest.mark.parametrize("foreign", ["dashboard", "query"])
def test_a_tile_cannot_refer_to_another_organization(
    runtime: Runtime, org: Org, foreign: str
) -> None:
    ours, theirs = store_pair(runtime, org), store_pair(runtime, make_org(runtime))
    ids = {"dashboard_id": ours[0], "query_id": ours[1]}
    other = {"dashboard_id": theirs[0], "query_id": theirs[1]}
    place = dict.fromkeys(("pos_x", "pos_y", "pos_w", "pos_h"), 1)
    opaque: dict[str, dict[str, object]] = {"chart_config": {}, "param_bindings": {}}

    def add(**refer: uuid.UUID) -> None:
        with runtime.postgres.transaction() as session:
            session.add(Tile(org_id=org.uuid, chart_type="pie", **refer, **place, **opaque))

    add(**ids)
    name = f"{foreign}_id"
    with pytest.raises(IntegrityError, match=f"fk_dashboard_tiles_{foreign}"):
        add(**{**ids, name: other[name]})


TABLES = ("saved_queries", "dashboards", "dashboard_tiles", "creations")


@contextmanager
def selects(runtime: Runtime) -> Iterator[list[str]]:
    """Collects the SELECTs that go to PostgreSQL."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith("SELECT"):
            seen.append(statement)

    event.listen(runtime.postgres.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(runtime.postgres.engine, "before_cursor_execute", note)


def test_every_select_names_the_organization_for_each_table(runtime: Runtime, org: Org) -> None:
    """Even after a row was found in the organization: later statements do not rely on that."""
    content = QueryContent("q", "", "SELECT count() FROM events", [])
    wanted = DashboardContent("d", "", {})
    me = org.uuid
    with selects(runtime) as seen, runtime.postgres.transaction() as session:
        query_id = str(queries.create(session, me, content, schema="", created_by="t").id)
        queries.replace(session, me, query_id, content, schema="")
        queries.get(session, me, query_id)
        queries.list_(session, me)
        board = str(service.create(session, me, wanted, created_by="t").id)
        service.replace(session, me, board, wanted)
        tile = TileContent(query_id, "", "pie", {}, {}, {})
        tile_id = str(tiles.create(session, me, board, tile).id)
        tiles.replace(session, me, board, tile_id, tile)
        tiles.lay_out(session, me, board, [(tile_id, TilePlace(0, 0, 1, 1))])
        tiles.list_(session, me, board)
        service.list_(session, me)
        tiles.delete(session, me, board, tile_id)
        service.delete(session, me, board)
        service.delete_query(session, me, query_id)
        creations.created_in(session, me, "query", now(), now())
    asked = 0
    for statement in seen:
        for table in TABLES:
            read = len(re.findall(rf"(FROM|JOIN) {table}\b", statement))
            named = len(re.findall(rf"\b{table}\.org_id = %\(", statement))
            assert named >= read, statement
            asked += read
    assert asked > 25
