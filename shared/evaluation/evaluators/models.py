"""The tables of evaluators. A version is never changed; secrets stand apart, sealed."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Numeric, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base
from shared.foundation.postgres.base import timestamp_type
from shared.foundation.postgres.columns import OfOrganization, Timestamps


class EvaluatorPool(OfOrganization, Timestamps, Base):
    """Workers with one token, of which only the SHA-256 is kept.

    `may_define`: its workers may register evaluators that the organization does not have.
    """

    __tablename__ = "evaluator_pools"

    name: Mapped[str]
    may_define: Mapped[bool]
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    created_by: Mapped[str | None]

    __table_args__ = (UniqueConstraint("org_id", "name"),)


class EvaluatorWorker(OfOrganization, Base):
    """A process that asked for runs; `definitions` are the versions that it can run."""

    __tablename__ = "evaluator_workers"

    pool_id: Mapped[UUID] = mapped_column(ForeignKey("evaluator_pools.id", ondelete="CASCADE"))
    worker_id: Mapped[str]
    sdk: Mapped[str]
    concurrency: Mapped[int]
    definitions: Mapped[list[Any]] = mapped_column(JSONB)
    last_seen_at: Mapped[datetime] = mapped_column(timestamp_type)

    __table_args__ = (UniqueConstraint("pool_id", "worker_id"),)


class Evaluator(OfOrganization, Timestamps, Base):
    """An evaluator of an organization.

    `sample` is a percentage. `enabled_since` is null while it is off. `budget` limits a calendar
    month in UTC. `active_version_id` is null until a version is activated. An archived one keeps
    its key, its versions and its results.
    """

    __tablename__ = "evaluators"

    key: Mapped[str]
    kind: Mapped[str]
    name: Mapped[str]
    description: Mapped[str]
    labels: Mapped[list[str]] = mapped_column(JSONB)
    enabled: Mapped[bool]
    enabled_since: Mapped[datetime | None] = mapped_column(timestamp_type)
    sample: Mapped[Decimal] = mapped_column(Numeric(5, 2))
    sample_seed: Mapped[str]
    priority: Mapped[int]
    concurrency: Mapped[int]
    timeout_ms: Mapped[int]
    max_attempts: Mapped[int]
    poll_max_secs: Mapped[int]
    idle_secs: Mapped[int | None]
    rescore: Mapped[str]
    rescore_max: Mapped[int]
    budget: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    pool_id: Mapped[UUID | None] = mapped_column(ForeignKey("evaluator_pools.id"))
    active_version_id: Mapped[UUID | None]
    archived_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    created_by: Mapped[str | None]

    __table_args__ = (
        UniqueConstraint("org_id", "key"),
        CheckConstraint("kind IN ('push', 'pull', 'sql', 'judge')", name="kind"),
        CheckConstraint("rescore IN ('never', 'each_end', 'each_idle')", name="rescore"),
    )


class EvaluatorVersion(OfOrganization, Base):
    """A definition of an evaluator under a name; `number` counts the versions from 1.

    `condition` is null if it applies to all sessions. `checksum` is the SHA-256 of its content.
    """

    __tablename__ = "evaluator_versions"

    evaluator_id: Mapped[UUID] = mapped_column(ForeignKey("evaluators.id", ondelete="CASCADE"))
    version: Mapped[str]
    number: Mapped[int]
    note: Mapped[str]
    spec: Mapped[dict[str, Any]] = mapped_column(JSON)
    condition: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    results: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    large: Mapped[str]
    checksum: Mapped[str]
    published_by: Mapped[str | None]
    published_at: Mapped[datetime] = mapped_column(
        timestamp_type, server_default=text("clock_timestamp()")
    )

    __table_args__ = (
        UniqueConstraint("evaluator_id", "version"),
        UniqueConstraint("evaluator_id", "number"),
        CheckConstraint("large IN ('cut', 'turns', 'pages', 'error')", name="large"),
    )


class EvaluatorSecret(OfOrganization, Base):
    """A secret of an evaluator: `token`, `api_key`, or `header:` and the name of a header.

    It is sent to `origin` alone: that of the version that was active when it was set.
    """

    __tablename__ = "evaluator_secrets"

    evaluator_id: Mapped[UUID] = mapped_column(ForeignKey("evaluators.id", ondelete="CASCADE"))
    name: Mapped[str]
    origin: Mapped[str | None]
    sealed: Mapped[bytes]

    __table_args__ = (UniqueConstraint("evaluator_id", "name"),)
