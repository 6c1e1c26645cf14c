"""Fixtures of tests that run SQL."""

from collections.abc import Iterator

import pytest

from devstack import DevStack
from shared.reading.queries.results.reader import Reader


@pytest.fixture(scope="session")
def reader(migrated_stack: DevStack) -> Iterator[Reader]:
    """The read-only user, with two connections."""
    made = Reader(migrated_stack.urls.clickhouse_readonly_url, pool_size=2)
    yield made
    made.close()
