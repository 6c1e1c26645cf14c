"""`bin/test --fast` selects the tests whose fixtures need no server, and enforces that."""

import os
from pathlib import Path

import pytest

from devstack import DevStack
from tests.support.runtime import Org


def test_a_test_without_servers_is_fast(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("fast")


def test_a_fixture_may_lead_to_servers_through_others(
    request: pytest.FixtureRequest, org: Org
) -> None:
    assert request.node.get_closest_marker("fast") is None


@pytest.mark.flow
def test_servers_of_its_own_are_servers_too(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("fast") is None


def test_a_fast_test_starts_no_server_unasked(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="ask for the fixture"):
        DevStack(tmp_path, servers={"redis"}).start()


def test_a_fast_test_knows_no_address() -> None:
    assert "DATABASE_URL" not in os.environ
