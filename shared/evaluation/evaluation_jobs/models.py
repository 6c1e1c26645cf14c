"""The tables of evaluation jobs, which are authoritative; messages are only nudges."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization, OfOrganization
from shared.foundation.postgres.leases import LeaseColumns

# Jobs that are not finished; a session has at most one of them.
LIVE = "status IN ('pending', 'polling', 'storing')"
# Jobs that wait for a call to the evaluator, or for its answer.
CALLABLE = "status IN ('pending', 'polling')"


class WatchedSession(KeyedInOrganization, Base):
    """A session that got events while its organization might use the evaluator.

    `end_seen`: an agent_end of any agent was stored. `waiting_since`: the time of the oldest
    arrival that was not checked yet. `check_at`: the next check whether the root agent has ended.
    `evaluated`: the automatic job exists, so there is nothing left to watch for. `idle_only`: its
    agents end many times, so only idleness starts the job.
    """

    __tablename__ = "watched_sessions"

    session_id: Mapped[str] = mapped_column(primary_key=True)
    last_arrival_at: Mapped[datetime] = mapped_column(timestamp_type)
    end_seen: Mapped[bool]
    waiting_since: Mapped[datetime | None] = mapped_column(timestamp_type)
    check_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    evaluated: Mapped[bool] = mapped_column(server_default=text("false"))
    idle_only: Mapped[bool] = mapped_column(server_default=text("false"))

    __table_args__ = (
        Index(None, "check_at", postgresql_where=text("check_at IS NOT NULL")),
        Index(None, "last_arrival_at", postgresql_where=text("NOT evaluated")),
        Index(
            "ix_watched_sessions_idle_only",
            "last_arrival_at",
            postgresql_where=text("idle_only AND NOT evaluated"),
        ),
    )


class JobColumns(OfOrganization, LeaseColumns):
    """One evaluation of one session, from its trigger until ClickHouse has the result.

    A worker holds the job while `lease_token` is its own. `result` is the packed outcome
    (`shared.evaluation.evaluation_jobs.result`) of a job in `storing`, and null otherwise.
    """

    session_id: Mapped[str]
    agent_id: Mapped[str]
    environment: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="pending")
    trigger: Mapped[str]
    request_id: Mapped[str]
    attempt_count: Mapped[int] = mapped_column(server_default=text("0"))
    evaluator_job_id: Mapped[str | None]
    last_error: Mapped[str | None]
    enqueued_at: Mapped[datetime] = mapped_column(timestamp_type)
    next_attempt_at: Mapped[datetime] = mapped_column(timestamp_type)
    started_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    poll_deadline_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    completed_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    result: Mapped[bytes | None]


IS_STATUS = "status IN ('pending', 'polling', 'storing', 'done', 'error', 'timeout')"


class EvaluationJob(JobColumns, Base):
    """A job of the deployment's evaluator."""

    __tablename__ = "evaluation_jobs"

    __table_args__ = (
        CheckConstraint(IS_STATUS, name="status"),
        CheckConstraint("trigger IN ('agent_end', 'inactivity', 'manual')", name="trigger"),
        Index(
            "uq_evaluation_jobs_live",
            "org_id",
            "session_id",
            unique=True,
            postgresql_where=text(LIVE),
        ),
        Index(
            "uq_evaluation_jobs_automatic",
            "org_id",
            "session_id",
            unique=True,
            postgresql_where=text("trigger <> 'manual'"),
        ),
        Index("ix_evaluation_jobs_session", "org_id", "session_id"),
        Index(
            "ix_evaluation_jobs_due",
            "org_id",
            "next_attempt_at",
            postgresql_where=text(CALLABLE),
        ),
        Index(
            "ix_evaluation_jobs_leases",
            "lease_expires_at",
            postgresql_where=text("lease_expires_at IS NOT NULL"),
        ),
        Index(
            "ix_evaluation_jobs_storing",
            "completed_at",
            postgresql_where=text("status = 'storing'"),
        ),
    )


class EvaluatorTurn(KeyedInOrganization, Base):
    """The time of an organization's last call; the organization that waits longest is next."""

    __tablename__ = "evaluator_turns"

    last_turn_at: Mapped[datetime] = mapped_column(timestamp_type)


class EvaluatorBreaker(Base):
    """The failed calls of an evaluator in a row (`evaluation_jobs.breaker`).

    `key` is the id of an organization's evaluator, or the endpoint of the deployment's.
    """

    __tablename__ = "evaluator_breakers"

    key: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    since: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_error: Mapped[str | None]
    wait_secs: Mapped[float] = mapped_column(server_default=text("0"))
    retry_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    probe_id: Mapped[UUID | None]


class EvaluatorBreakerBefore(Base):
    """The only breaker of the release before, which may run while a release goes out."""

    __tablename__ = "evaluator_breaker"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    endpoint: Mapped[str]
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    since: Mapped[datetime | None] = mapped_column(timestamp_type)
    last_error: Mapped[str | None]
    wait_secs: Mapped[float] = mapped_column(server_default=text("0"))
    retry_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    probe_id: Mapped[UUID | None]

    __table_args__ = (CheckConstraint("id = 1", name="single_row"),)


class EvaluatorConfig(Base):
    """The last good answer of the evaluator's /config; a single row with `id` 1.

    `endpoint` is the evaluator that gave it; an answer of another one does not count.
    `refreshed_at` is the time of the last read.
    """

    __tablename__ = "evaluator_config"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    endpoint: Mapped[str]
    inactivity_timeout_secs: Mapped[float | None]
    default_poll_interval_secs: Mapped[float | None]
    refreshed_at: Mapped[datetime] = mapped_column(timestamp_type)
    next_refresh_at: Mapped[datetime] = mapped_column(timestamp_type)

    __table_args__ = (CheckConstraint("id = 1", name="single_row"),)
