"""Fixtures of tests that sign people in over HTTP."""

import pytest
from flask import Flask

from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member, new_email
from tests.support.runtime import Org
from tests.support.sign_in import Visitor


@pytest.fixture
def email(runtime: Runtime, org: Org) -> str:
    """The address of a member of the test's organization, with the set `admin`."""
    address = new_email()
    add_member(runtime, org, email=address)
    return address


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    """A new browser without cookies."""
    return Visitor.of(app)
