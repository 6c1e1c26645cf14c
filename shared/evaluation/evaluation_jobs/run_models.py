"""The tables of runs, which are authoritative; messages are only nudges."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Numeric, SmallInteger, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.evaluation.evaluation_jobs.models import CALLABLE, IS_STATUS, LIVE, JobColumns
from shared.foundation.postgres import Base
from shared.foundation.postgres.base import timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization

# Runs by hand come first, then those of a trigger, then those of backfills.
RANKS = {"manual": 0, "agent_end": 1, "inactivity": 1, "backfill": 2}


class SessionTrigger(KeyedInOrganization, Base):
    """A session that got events while its organization had evaluators of its own.

    `end_seen`: an agent_end of any agent was stored. `waiting_since`: the time of the oldest
    arrival that was not checked yet. `end_check_at`: the next check whether the root agent has
    ended. `idle_check_at`: the next moment at which the session is idle for some evaluator.
    `idle_only`: its agents end many times, so only idleness starts runs.
    """

    __tablename__ = "session_triggers"

    session_id: Mapped[str] = mapped_column(primary_key=True)
    last_arrival_at: Mapped[datetime] = mapped_column(timestamp_type)
    end_seen: Mapped[bool]
    waiting_since: Mapped[datetime | None] = mapped_column(timestamp_type)
    end_check_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    idle_check_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    idle_only: Mapped[bool] = mapped_column(server_default=text("false"))

    __table_args__ = (
        Index(None, "end_check_at", postgresql_where=text("end_check_at IS NOT NULL")),
        Index(None, "idle_check_at", postgresql_where=text("idle_check_at IS NOT NULL")),
    )


class RunTurn(KeyedInOrganization, Base):
    """The time of an organization's last run; the one that has waited longest is next."""

    __tablename__ = "run_turns"

    last_turn_at: Mapped[datetime] = mapped_column(timestamp_type)


class EvaluatorMonth(Base):
    """The use of an evaluator in a calendar month of UTC, which begins on `month`."""

    __tablename__ = "evaluator_months"

    evaluator_id: Mapped[UUID] = mapped_column(
        ForeignKey("evaluators.id", ondelete="CASCADE"), primary_key=True
    )
    month: Mapped[date] = mapped_column(primary_key=True)
    org_id: Mapped[UUID] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    evaluations: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    tokens: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    usd: Mapped[Decimal] = mapped_column(Numeric(38, 12), server_default=text("0"))


class EvaluatorRun(JobColumns, Base):
    """One version of an evaluator over one session, up to the event that arrived at `revision`.

    A revision is the highest `arrival` of the session's events when the run was made. There were
    `covered_events` of them, the last one at `covered_until`. `rank` is that of its trigger in
    `RANKS`.
    """

    __tablename__ = "evaluator_runs"

    evaluator_id: Mapped[UUID] = mapped_column(ForeignKey("evaluators.id", ondelete="CASCADE"))
    version_id: Mapped[UUID] = mapped_column(
        ForeignKey("evaluator_versions.id", ondelete="CASCADE")
    )
    revision: Mapped[int] = mapped_column(BigInteger)
    covered_events: Mapped[int] = mapped_column(BigInteger)
    covered_until: Mapped[datetime] = mapped_column(timestamp_type)
    backfill_id: Mapped[UUID | None]
    rank: Mapped[int] = mapped_column(SmallInteger)

    __table_args__ = (
        CheckConstraint(IS_STATUS, name="status"),
        CheckConstraint(
            "trigger IN ('agent_end', 'inactivity', 'manual', 'backfill')", name="trigger"
        ),
        Index(
            "uq_evaluator_runs_live",
            "evaluator_id",
            "session_id",
            unique=True,
            postgresql_where=text(LIVE),
        ),
        Index(
            "uq_evaluator_runs_automatic",
            "evaluator_id",
            "session_id",
            "revision",
            unique=True,
            postgresql_where=text("trigger IN ('agent_end', 'inactivity')"),
        ),
        Index(
            "uq_evaluator_runs_backfill",
            "backfill_id",
            "session_id",
            unique=True,
            postgresql_where=text("backfill_id IS NOT NULL"),
        ),
        Index("ix_evaluator_runs_session", "org_id", "session_id"),
        Index(
            "ix_evaluator_runs_due",
            "evaluator_id",
            "rank",
            "next_attempt_at",
            postgresql_where=text(CALLABLE),
        ),
        Index(
            "ix_evaluator_runs_leases",
            "lease_expires_at",
            postgresql_where=text("lease_expires_at IS NOT NULL"),
        ),
        Index(
            "ix_evaluator_runs_storing",
            "completed_at",
            postgresql_where=text("status = 'storing'"),
        ),
    )
