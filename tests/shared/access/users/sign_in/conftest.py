"""Fixtures of tests that sign people in."""

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member, new_email
from tests.support.runtime import Org


@pytest.fixture
def email(runtime: Runtime, org: Org) -> str:
    """The address of a member of the test's organization."""
    address = new_email()
    add_member(runtime, org, email=address)
    return address
