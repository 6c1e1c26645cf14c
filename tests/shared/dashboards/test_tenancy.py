"""No tile points out of its organization, whatever the code above the tables does."""

import uuid

import pytest
from sqlalchemy.exc import IntegrityError

from shared.dashboards.models import Dashboard, Tile
from shared.queries.models import SavedQuery
from shared.runtime import Runtime
from tests.support.runtime import Org, make_org


def store_pair(runtime: Runtime, org: Org) -> tuple[uuid.UUID, uuid.UUID]:
    """The ids of a new dashboard and a new query."""
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
