"""The evaluator's optional /config as last read, stored in PostgreSQL for every process."""

from urllib.parse import urlsplit

import msgspec
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import models
from shared.evaluation.evaluation_jobs.answers import Answer, NoEvaluatorAnswer
from shared.foundation.core.config import Settings
from shared.foundation.core.metrics.kinds import OTHER

# A failed read is repeated this soon, or at the normal interval if that is shorter.
RETRY_SECS = 10.0

# Statuses of an evaluator that has no such route.
_NOT_SERVED = frozenset({404, 405, 410, 501})


def evaluator_name(settings: Settings) -> str:
    """Returns the evaluator's name in metrics: host and port of its URL; `none` without one.

    The rest of the URL may hold a password, a token or a name. `other` if it has no host.
    """
    if settings.evaluator_endpoint is None:
        return "none"
    try:
        url = urlsplit(settings.evaluator_endpoint)
        host, port = url.hostname, url.port
    except ValueError:
        return OTHER
    if not host:
        return OTHER
    return host if port is None else f"{host}:{port}"


class EvaluatorTimings(msgspec.Struct, frozen=True):
    """The configuration in seconds; None means that the evaluator named none (no idle trigger)."""

    inactivity_timeout_secs: float | None = None
    default_poll_interval_secs: float | None = None


def read_config(answer: Answer | NoEvaluatorAnswer) -> EvaluatorTimings | None:
    """Returns the configuration in an answer of /config.

    None if it has none and the last one stays.
    """
    if isinstance(answer, NoEvaluatorAnswer):
        return None
    if answer.status in _NOT_SERVED:
        return EvaluatorTimings()
    if answer.status != 200 or answer.body is None:
        return None
    try:
        config = msgspec.json.decode(answer.body, type=EvaluatorTimings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # Zero is a valid interval, which is clamped on use, but no timeout.
    if config.inactivity_timeout_secs is not None and config.inactivity_timeout_secs <= 0:
        config = msgspec.structs.replace(config, inactivity_timeout_secs=None)
    return config


def current(session: Session, settings: Settings) -> EvaluatorTimings:
    """Returns the last good answer of the evaluator that is configured now."""
    row = session.get(models.EvaluatorConfig, 1)
    if row is None or row.endpoint != settings.evaluator_endpoint:
        return EvaluatorTimings()
    return EvaluatorTimings(row.inactivity_timeout_secs, row.default_poll_interval_secs)


_TAKE_REFRESH = text("""
INSERT INTO evaluator_config AS known (id, endpoint, refreshed_at, next_refresh_at)
VALUES (1, :endpoint, statement_timestamp(),
        statement_timestamp() + make_interval(secs => :lease))
ON CONFLICT (id) DO UPDATE SET
    endpoint = excluded.endpoint,
    inactivity_timeout_secs = CASE WHEN known.endpoint = excluded.endpoint
        THEN known.inactivity_timeout_secs END,
    default_poll_interval_secs = CASE WHEN known.endpoint = excluded.endpoint
        THEN known.default_poll_interval_secs END,
    refreshed_at = excluded.refreshed_at,
    next_refresh_at = excluded.next_refresh_at
WHERE :force OR known.endpoint <> excluded.endpoint
    OR known.next_refresh_at <= statement_timestamp()
RETURNING id
""")

_REMEMBER = text("""
UPDATE evaluator_config SET
    inactivity_timeout_secs = :inactivity,
    default_poll_interval_secs = :poll,
    next_refresh_at = statement_timestamp() + make_interval(secs => :cadence)
WHERE endpoint = :endpoint
""")

_RETRY = text("""
UPDATE evaluator_config
SET next_refresh_at = statement_timestamp() + make_interval(secs => :retry)
WHERE endpoint = :endpoint
""")


def take_refresh(session: Session, settings: Settings, *, force: bool) -> bool:
    """Returns whether the caller must read /config now, because it is due or because of `force`.

    Returns True for one caller at a time, until it is done or its request has timed out: a /config
    that hangs must not block the threads of every process.
    """
    lease = settings.evaluator_request_timeout_ms / 1000 + RETRY_SECS
    taken = session.execute(
        _TAKE_REFRESH, {"endpoint": settings.evaluator_endpoint, "lease": lease, "force": force}
    )
    return taken.one_or_none() is not None


def remember(session: Session, settings: Settings, config: EvaluatorTimings | None) -> None:
    """Stores the result of a read of /config; None keeps the last good values and retries soon."""
    cadence = settings.evaluator_config_refresh_secs
    endpoint = settings.evaluator_endpoint
    if config is None:
        session.execute(_RETRY, {"endpoint": endpoint, "retry": min(cadence, RETRY_SECS)})
        return
    session.execute(
        _REMEMBER,
        {
            "endpoint": endpoint,
            "inactivity": config.inactivity_timeout_secs,
            "poll": config.default_poll_interval_secs,
            "cadence": cadence,
        },
    )
