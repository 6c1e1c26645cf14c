"""Traces that are on in the process of the tests, and a collector for them."""

from collections.abc import Iterator

import pytest

from shared.foundation.core.config import Settings
from shared.foundation.core.tracing.exporter import Tracing
from tests.support.backend import Backend, running_backend, traced


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    """A collector; processes send what they have every 50 ms."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with running_backend() as running:
        yield running


@pytest.fixture
def settings(backend: Backend) -> Settings:
    """Settings with which traces go to the collector."""
    return Settings(
        database_url="postgresql://x",
        redis_url="redis://x",
        clickhouse_url="clickhouse://x",
        otel_exporter_otlp_endpoint=backend.url,
    )


@pytest.fixture
def tracing(settings: Settings) -> Iterator[Tracing]:
    """Traces of this process, switched on."""
    with traced(settings) as made:
        yield made
