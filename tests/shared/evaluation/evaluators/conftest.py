"""PostgreSQL is enough for these tests."""

import pytest

from shared.foundation.deployment.runtime import Runtime


@pytest.fixture(scope="session")
def runtime(postgres_runtime: Runtime) -> Runtime:
    return postgres_runtime
