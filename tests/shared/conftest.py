"""Fixtures of tests below the web tier."""

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime


@pytest.fixture(scope="session")
def clickhouse(runtime: Runtime) -> ClickHouse:
    """ClickHouse with all tables. Each test uses its own organization."""
    return runtime.clickhouse


@pytest.fixture
def org_id() -> str:
    """An organization without any rows, known only to ClickHouse."""
    return str(new_id())
