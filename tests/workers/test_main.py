"""The start of a worker."""

import pytest

from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError
from workers.main import prepare

NOWHERE = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
    model_prices_file="/nowhere/prices.json",
)


def test_a_worker_refuses_to_start_without_its_prices() -> None:
    with pytest.raises(ConfigurationError, match="MODEL_PRICES_FILE"):
        prepare(NOWHERE, ("mail",))
