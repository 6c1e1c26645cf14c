"""Fixtures of the tests of deletions."""

from datetime import timedelta

import pytest


@pytest.fixture(autouse=True)
def _no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of a test share a clock, so nothing has to be waited for."""
    monkeypatch.setattr("shared.foundation.queue.waiting.SETTLE", timedelta(0))
