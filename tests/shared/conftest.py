"""Fixtures of tests below the web tier."""

from collections.abc import Iterator

import pytest

from shared.clickhouse import ClickHouse
from shared.clickhouse.migrate import migrate
from shared.ids import new_id


@pytest.fixture(scope="session")
def clickhouse(clickhouse_url: str) -> Iterator[ClickHouse]:
    """ClickHouse with all tables; a test keeps to an organization of its own."""
    connections = ClickHouse(clickhouse_url, pool_size=4)
    migrate(connections)
    yield connections
    connections.close()


@pytest.fixture
def org_id() -> str:
    """An organization without any rows."""
    return str(new_id())
