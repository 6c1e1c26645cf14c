"""The evaluator's optional /config as last read: kept in PostgreSQL for every process."""

from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.config import Settings
from shared.evaluation_jobs import models
from shared.evaluation_jobs.answers import Answer, NoAnswer

# A failed read is repeated this soon, or with the normal cadence when that is faster.
RETRY_SECS = 10.0

# Answers of an evaluator that has no such route.
_NOT_SERVED = frozenset({404, 405, 410, 501})


@dataclass(frozen=True)
class EvaluatorConfig:
    """Both in seconds; None: the evaluator named none, and inactivity triggers nothing."""

    inactivity_timeout_secs: float | None = None
    default_poll_interval_secs: float | None = None


class _Wire(msgspec.Struct):
    inactivity_timeout_secs: float | None = None
    default_poll_interval_secs: float | None = None


def read_config(answer: Answer | NoAnswer) -> EvaluatorConfig | None:
    """The configuration of an answer of /config; None when it tells nothing and the last counts."""
    if isinstance(answer, NoAnswer):
        return None
    if answer.status in _NOT_SERVED:
        return EvaluatorConfig()
    if answer.status != 200 or answer.body is None:
        return None
    try:
        wire = msgspec.json.decode(answer.body, type=_Wire)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return EvaluatorConfig(
        inactivity_timeout_secs=_positive(wire.inactivity_timeout_secs),
        default_poll_interval_secs=_positive(wire.default_poll_interval_secs),
    )


def current(session: Session, settings: Settings) -> EvaluatorConfig:
    """The last good answer of the evaluator that is configured now."""
    row = session.get(models.EvaluatorConfig, 1)
    if row is None or row.endpoint != settings.evaluator_endpoint:
        return EvaluatorConfig()
    return EvaluatorConfig(row.inactivity_timeout_secs, row.default_poll_interval_secs)


def is_due(session: Session, settings: Settings, process_started_at: datetime) -> bool:
    """Whether /config is to be read: by its cadence, and once by every process that starts."""
    fresh = session.execute(
        text(
            "SELECT true FROM evaluator_config WHERE endpoint = :endpoint"
            " AND next_refresh_at > statement_timestamp() AND refreshed_at >= :started"
        ),
        {"endpoint": settings.evaluator_endpoint, "started": process_started_at},
    ).scalar_one_or_none()
    return fresh is None


def remember(session: Session, settings: Settings, config: EvaluatorConfig | None) -> None:
    """Notes a read of /config; None keeps the last good values and has it read again soon."""
    cadence = settings.evaluator_config_refresh_secs
    values = config or current(session, settings)
    session.execute(
        text(
            "INSERT INTO evaluator_config VALUES (1, :endpoint, :inactivity, :poll,"
            " statement_timestamp(), statement_timestamp() + make_interval(secs => :next))"
            " ON CONFLICT (id) DO UPDATE SET endpoint = excluded.endpoint,"
            " inactivity_timeout_secs = excluded.inactivity_timeout_secs,"
            " default_poll_interval_secs = excluded.default_poll_interval_secs,"
            " refreshed_at = excluded.refreshed_at, next_refresh_at = excluded.next_refresh_at"
        ),
        {
            "endpoint": settings.evaluator_endpoint,
            "inactivity": values.inactivity_timeout_secs,
            "poll": values.default_poll_interval_secs,
            "next": cadence if config is not None else min(cadence, RETRY_SECS),
        },
    )


def _positive(seconds: float | None) -> float | None:
    return seconds if seconds is not None and seconds > 0 else None
