"""Separate databases for these tests: retention depends on the work in progress in all of them."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import delete

from devstack import DevStack
from shared.access.settings import service as settings
from shared.access.settings.models import OrganizationSetting
from shared.access.settings.service import Editor
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.retention import service as retention
from shared.upkeep.retention.service import Removed
from tests.support.databases import empty_databases
from tests.support.runtime import Org, connected, make_org, migrated, settings_for

# A Wednesday. 30 days earlier is 2026-10-19.
NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def runtime(stack: DevStack) -> Iterator[Runtime]:
    """Databases that hold only these tests' organizations."""
    with empty_databases(stack.urls) as urls:
        made = settings_for(urls, clickhouse_readonly_url=None)
        migrated(made)
        with connected(made) as connections:
            connections.redis.flushdb()
            yield connections


@pytest.fixture
def org(runtime: Runtime) -> Iterator[Org]:
    """An organization that keeps 30 days. After the test it keeps everything."""
    made = make_org(runtime)
    keep(runtime, made, 30)
    yield made
    with runtime.postgres.transaction() as session:
        session.execute(delete(OrganizationSetting))


@pytest.fixture
def other(runtime: Runtime) -> Org:
    """An organization that keeps everything."""
    return make_org(runtime)


@pytest.fixture
def without_merges(runtime: Runtime) -> Iterator[None]:
    """Parts of `events` stay as they are until a statement changes them."""
    setting = "max_bytes_to_merge_at_max_space_in_pool"
    runtime.clickhouse.execute(f"ALTER TABLE events MODIFY SETTING {setting} = 1")
    yield
    runtime.clickhouse.execute(f"ALTER TABLE events RESET SETTING {setting}")


def keep(runtime: Runtime, org: Org, days: int) -> None:
    """Sets the retention of an organization."""
    with at_once(runtime.postgres, runtime.redis) as session:
        settings.replace(
            session, runtime.settings, org.uuid, "retention.events_days", days, Editor("t", None)
        )


def apply(runtime: Runtime, now: datetime = NOW) -> Removed:
    """Returns the rows that a run at `now` removes."""
    return retention.apply(runtime, threading.Event(), now)
