"""Evaluators of organizations: versions, secrets, and pools of workers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_NOW = sa.func.clock_timestamp()
_KINDS = "kind IN ('push', 'pull', 'sql', 'judge')"
_RESCORE = "rescore IN ('never', 'each_end', 'each_idle')"
_LARGE = "large IN ('cut', 'turns', 'pages', 'error')"


def _ids() -> tuple[sa.Column[object], sa.Column[object]]:
    organization = sa.ForeignKey("organizations.id", ondelete="CASCADE")
    return (
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("org_id", sa.Uuid, organization, nullable=False),
    )


def _of_evaluator() -> sa.Column[object]:
    evaluator = sa.ForeignKey("evaluators.id", ondelete="CASCADE")
    return sa.Column("evaluator_id", sa.Uuid, evaluator, nullable=False)


def _times() -> tuple[sa.Column[object], sa.Column[object]]:
    return (
        sa.Column("created_at", _MOMENT, nullable=False, server_default=_NOW),
        sa.Column("updated_at", _MOMENT, nullable=False, server_default=_NOW),
    )


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "evaluator_pools",
        *_ids(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("may_define", sa.Boolean, nullable=False),
        sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("created_by", sa.Text),
        *_times(),
        sa.UniqueConstraint("org_id", "name"),
    )
    op.create_table(
        "evaluator_workers",
        *_ids(),
        sa.Column(
            "pool_id",
            sa.Uuid,
            sa.ForeignKey("evaluator_pools.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("worker_id", sa.Text, nullable=False),
        sa.Column("sdk", sa.Text, nullable=False),
        sa.Column("concurrency", sa.Integer, nullable=False),
        sa.Column("definitions", JSONB, nullable=False),
        sa.Column("last_seen_at", _MOMENT, nullable=False),
        sa.UniqueConstraint("pool_id", "worker_id"),
    )
    op.create_table(
        "evaluators",
        *_ids(),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("labels", JSONB, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("enabled_since", _MOMENT),
        sa.Column("sample", sa.Numeric(5, 2), nullable=False),
        sa.Column("sample_seed", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("concurrency", sa.Integer, nullable=False),
        sa.Column("timeout_ms", sa.Integer, nullable=False),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("poll_max_secs", sa.Integer, nullable=False),
        sa.Column("idle_secs", sa.Integer),
        sa.Column("rescore", sa.Text, nullable=False),
        sa.Column("rescore_max", sa.Integer, nullable=False),
        sa.Column("budget", JSONB),
        sa.Column("pool_id", sa.Uuid, sa.ForeignKey("evaluator_pools.id")),
        sa.Column("active_version_id", sa.Uuid),
        sa.Column("archived_at", _MOMENT),
        sa.Column("created_by", sa.Text),
        *_times(),
        sa.UniqueConstraint("org_id", "key"),
        sa.CheckConstraint(_KINDS, name="kind"),
        sa.CheckConstraint(_RESCORE, name="rescore"),
    )
    op.create_table(
        "evaluator_versions",
        *_ids(),
        _of_evaluator(),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("condition", sa.JSON),
        sa.Column("results", sa.JSON, nullable=False),
        sa.Column("large", sa.Text, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.Column("published_by", sa.Text),
        sa.Column("published_at", _MOMENT, nullable=False, server_default=_NOW),
        sa.UniqueConstraint("evaluator_id", "version"),
        sa.UniqueConstraint("evaluator_id", "number"),
        sa.CheckConstraint(_LARGE, name="large"),
    )
    op.create_table(
        "evaluator_secrets",
        *_ids(),
        _of_evaluator(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("origin", sa.Text),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("evaluator_id", "name"),
    )


def downgrade() -> None:
    """Removes the tables."""
    for table in (
        "evaluator_secrets",
        "evaluator_versions",
        "evaluators",
        "evaluator_workers",
        "evaluator_pools",
    ):
        op.drop_table(table)
