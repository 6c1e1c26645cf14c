"""Takes a backup while the deployment works.

The order makes it complete: first Redis, where accepted data begins its way; then one snapshot of
PostgreSQL; then ClickHouse, where the way ends. Whatever was accepted before the start is in Redis
when that is read, or has already arrived where is read later.

What arrives meanwhile may be inside or not. Results that PostgreSQL's snapshot does not know yet
are left out, so that a session has its result or its waiting job, never both.
"""

import secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Connection, text

from shared.access.audit_log import record
from shared.access.organizations import Organization
from shared.foundation.core.clock import format_ts, to_us
from shared.foundation.core.errors import Conflict
from shared.foundation.core.ids import parse_uuid
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import found_versions, require_current
from shared.foundation.objects import Objects
from shared.upkeep.backup import in_clickhouse, in_postgres, in_redis, manifest
from shared.upkeep.backup.files import Row, Tell
from shared.upkeep.backup.manifest import BackupTable, ExportedOrganization, Manifest
from shared.upkeep.backup.tenant import rows_of

# Only results this much older than the snapshot certainly belong to jobs that it knows.
_UNSETTLED_US = 3600 * 1_000_000
_LEFT_OUT = (
    "sign-in codes and sessions",
    "messages, moments, leases and caches of Redis",
    "lines that were not accepted (GET /receipts/skipped)",
)


def new_name() -> str:
    """Returns a name for a backup of now, in the order of their times."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


@dataclass(frozen=True)
class _Backup:
    runtime: Runtime
    objects: Objects
    tell: Tell
    organization: Organization | None

    @property
    def org_id(self) -> str | None:
        return None if self.organization is None else str(self.organization.id)


def create(
    runtime: Runtime, objects: Objects, tell: Tell, organization: Organization | None = None
) -> Manifest:
    """Writes a backup of everything, or the export of an organization, into an empty place.

    Raises `Conflict` if there is something, `ConfigurationError` for other schemas than this
    release's, and `Unavailable` if a store or the place cannot be used. Then no manifest exists.
    """
    require_current(runtime.postgres, runtime.clickhouse)
    versions = found_versions(runtime.postgres, runtime.clickhouse)
    if any(True for _ in objects.list()):
        raise Conflict(f"{objects.url} is not empty: choose another place", code="not_empty")
    taken = _Backup(runtime, objects, tell, organization)
    point_at = datetime.now(UTC)
    in_redis.flush_receipts(runtime.postgres, runtime.redis, taken.org_id)
    found = in_redis.tables()
    for table in found:
        in_redis.copy_out(runtime.redis, objects, table, tell, taken.org_id)
    with in_postgres.snapshot(runtime.postgres.engine) as connection:
        snapshot_at = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        found += _copy_postgres(taken, connection)
        *first, events = in_clickhouse.tables(runtime.clickhouse)
        for table in first:
            _copy_clickhouse(taken, table, connection, snapshot_at)
    _copy_clickhouse(taken, events, None, snapshot_at)
    made = Manifest(
        id=str(uuid.uuid4()),
        kind="deployment" if organization is None else "organization",
        postgres_revision=versions.postgres,
        clickhouse_version=versions.clickhouse,
        point_at=format_ts(point_at),
        snapshot_at=format_ts(snapshot_at),
        finished_at=format_ts(datetime.now(UTC)),
        organization=_described(organization),
        secrets=list(in_postgres.SECRETS if organization is None else in_postgres.EXPORTED_SECRETS),
        left_out=list(_LEFT_OUT),
        tables=[*found, *first, events],
    )
    manifest.write(objects, made)
    _record(taken, made)
    return made


def _record(taken: _Backup, made: Manifest) -> None:
    organization = taken.organization
    action = "backup.create" if organization is None else "organization.export"
    after = {"place": taken.objects.url, "point_at": made.point_at}
    with taken.runtime.postgres.transaction() as session:
        org_id = None if organization is None else organization.id
        record(session, org_id, action, target=made.id, name=taken.objects.url, after=after)


def _described(organization: Organization | None) -> ExportedOrganization | None:
    if organization is None:
        return None
    return ExportedOrganization(str(organization.id), organization.slug, organization.name)


def _copy_postgres(taken: _Backup, connection: Connection) -> list[BackupTable]:
    copied = []
    for table in in_postgres.tables(connection):
        rows = None
        if taken.organization is not None:
            rows = rows_of(connection, table, taken.organization.id)
            if rows is None:
                continue
        in_postgres.copy_out(connection, taken.objects, table, taken.tell, rows)
        copied.append(table)
    return copied


def _copy_clickhouse(
    taken: _Backup, table: BackupTable, connection: Connection | None, snapshot_at: datetime
) -> None:
    keep = None
    if table.name in in_clickhouse.RESULTS and connection is not None:
        keep = _FinishedJobs(taken.runtime, connection, table, snapshot_at).rows
    in_clickhouse.copy_out(
        taken.runtime.clickhouse, taken.objects, table, taken.tell, org_id=taken.org_id, keep=keep
    )


class _FinishedJobs:
    """Leaves out results of jobs that the snapshot does not show as finished.

    Results that came as telemetry have no job and stay.
    """

    def __init__(
        self, runtime: Runtime, connection: Connection, table: BackupTable, snapshot_at: datetime
    ) -> None:
        self._runtime = runtime
        self._connection = connection
        self._id_at = in_clickhouse.position(table, "evaluation_id")
        self._completed_at = in_clickhouse.position(table, "completed_at")
        self._since_us = to_us(snapshot_at) - _UNSETTLED_US

    def rows(self, block: list[Row]) -> list[Row]:
        recent = [row for row in block if row[self._completed_at] >= self._since_us]
        ids = [found for row in recent if (found := self._id(row)) is not None]
        if not ids:
            return block
        with self._runtime.postgres.engine.connect() as now:
            jobs = in_postgres.known_jobs(now, ids)
        finished = in_postgres.known_jobs(self._connection, ids) - in_postgres.live_jobs(
            self._connection, ids
        )
        unknown = jobs - finished
        return [row for row in block if in_clickhouse.value(row, self._id_at) not in unknown]

    def _id(self, row: Row) -> UUID | None:
        return parse_uuid(in_clickhouse.value(row, self._id_at))
