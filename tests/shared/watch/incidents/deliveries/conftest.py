"""Fixtures of tests that announce incidents."""

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.notifications import Desk
from tests.support.runtime import Org


@pytest.fixture
def desk(runtime: Runtime, org: Org) -> Desk:
    """An organization whose incidents are announced."""
    return Desk(runtime, org)
