"""Commands that run inside the test process."""

import pytest

from orgctl import context


@pytest.fixture(autouse=True)
def _logging_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores logging: a command sets it up for its process, and all tests share this process."""
    monkeypatch.setattr(context, "configure_logging", lambda *_: None)
