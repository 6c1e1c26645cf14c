"""PostgreSQL and Redis are enough for these tests."""

import pytest

from shared.foundation.deployment.runtime import Runtime


@pytest.fixture(scope="session")
def runtime(postgres_and_redis_runtime: Runtime) -> Runtime:
    return postgres_and_redis_runtime
