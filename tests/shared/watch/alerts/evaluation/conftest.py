"""Fixtures of tests that evaluate alert rules."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from shared.foundation.deployment.runtime import Runtime
from tests.support.alerting import Watch
from tests.support.runtime import Org, make_org


def _quiet(runtime: Runtime) -> None:
    with runtime.postgres.transaction() as session:
        session.execute(
            text(
                "UPDATE alert_states SET due_at = NULL, lease_token = NULL, lease_expires_at = NULL"
            )
        )


@pytest.fixture
def watch(runtime: Runtime, org: Org) -> Iterator[Watch]:
    """An organization with its own rules. Rules that other tests left behind are not due."""
    _quiet(runtime)
    yield Watch(runtime, org)
    _quiet(runtime)


@pytest.fixture
def other(watch: Watch) -> Watch:
    """A second organization."""
    return Watch(watch.runtime, make_org(watch.runtime))
