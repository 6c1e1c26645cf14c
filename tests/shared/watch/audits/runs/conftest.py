"""Fixtures of tests of runs."""

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.audits import AuditBench
from tests.support.runtime import Org


@pytest.fixture
def bench(runtime: Runtime, org: Org) -> AuditBench:
    """The audits of the test's organization."""
    return AuditBench(runtime, org)
