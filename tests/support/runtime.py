"""A runtime on the stack's servers, and separate organizations for tests."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from devstack import StackUrls
from shared.access.organizations.models import Organization
from shared.foundation.core.config import Settings
from shared.foundation.deployment.migration import release
from shared.foundation.deployment.runtime import Runtime


@dataclass(frozen=True)
class Org:
    """An organization that no other test uses."""

    uuid: UUID
    slug: str

    @property
    def id(self) -> str:
        """Its name in ClickHouse and Redis."""
        return str(self.uuid)


def settings_for(urls: StackUrls, **fields: object) -> Settings:
    """Returns settings for these servers, without canaries. `fields` replace defaults."""
    values: dict[str, object] = {
        "database_url": urls.database_url,
        "redis_url": urls.redis_url,
        "clickhouse_url": urls.clickhouse_url,
        "clickhouse_readonly_url": urls.clickhouse_readonly_url or None,
        "canary_interval_secs": 0,
        **fields,
    }
    return Settings(**values)  # type: ignore[arg-type] # Settings checks the fields


@contextmanager
def connected(settings: Settings) -> Iterator[Runtime]:
    """Yields a runtime and closes it afterwards."""
    runtime = Runtime.connect(settings)
    try:
        yield runtime
    finally:
        runtime.close()


def migrated(settings: Settings) -> None:
    """Migrates both databases to this release."""
    with connected(settings) as runtime:
        readonly_url = settings.clickhouse_readonly_url
        release(runtime.postgres, runtime.clickhouse, readonly_url=readonly_url)


def make_org(runtime: Runtime) -> Org:
    """Creates an organization."""
    slug = f"t{secrets.token_hex(6)}"
    with runtime.postgres.transaction() as session:
        row = Organization(slug=slug, name=slug)
        session.add(row)
        session.flush()
        return Org(row.id, slug)
