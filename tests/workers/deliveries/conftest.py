"""Fixtures of tests that send notifications."""

from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.notifications import Desk
from tests.support.receivers import Receiver, running_receiver
from tests.support.runtime import Org
from tests.workers.mail.conftest import outbox, smtp

__all__ = ["outbox", "smtp"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that answers 200 by default."""
    with running_receiver() as running:
        yield running


@pytest.fixture
def desk(runtime: Runtime, org: Org, receiver: Receiver) -> Iterator[Desk]:
    """An organization whose webhook is the receiver. Nothing of other tests is due."""
    made = Desk(runtime, org)
    made.sql("DELETE FROM notifications")
    made.set("webhook_default_url", receiver.url)
    yield made
    made.sql("DELETE FROM notifications")
