"""Commands that run inside the test process."""

import pytest

from orgctl import context


@pytest.fixture(autouse=True)
def _logging_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sets up its process's logging for good, and this process is everybody's."""
    monkeypatch.setattr(context, "configure_logging", lambda *_: None)
