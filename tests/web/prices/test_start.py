"""The start of the web application."""

import pytest

from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment.runtime import Runtime
from web.app import create_app

NOWHERE = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
    model_prices_file="/nowhere/prices.json",
)


def test_the_application_refuses_to_start_without_its_prices() -> None:
    with pytest.raises(ConfigurationError, match="MODEL_PRICES_FILE"):
        create_app(Runtime.connect(NOWHERE))
