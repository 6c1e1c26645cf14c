"""Fixtures of tests that send mail."""

from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.mails import Outbox
from tests.support.runtime import Org
from tests.support.smtp import Smtp, running_smtp


@pytest.fixture
def smtp() -> Iterator[Smtp]:
    """A mail server that accepts everything by default."""
    with running_smtp() as running:
        yield running


@pytest.fixture
def outbox(runtime: Runtime, org: Org, smtp: Smtp) -> Iterator[Outbox]:
    """An outbox without the mails of other tests, which a sender would take too."""
    made = Outbox(runtime, org, smtp)
    made.sql("DELETE FROM mails")
    yield made
    made.sql("DELETE FROM mails")
