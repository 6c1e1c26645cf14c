"""One evaluator as its jobs see it: their table, its breaker, and the limits of its calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import evaluator_config
from shared.foundation.core.config import Settings


@dataclass(frozen=True)
class CallLimits:
    """The limits of calls; `poll_secs` is the time between polls if an answer names none."""

    timeout_secs: float
    max_attempts: int
    poll_secs: float
    max_poll_secs: float


@dataclass(frozen=True)
class JobScope:
    """The jobs of one evaluator.

    `table` has them, and those of other evaluators. `jobs` is the condition for them, over the
    table as `job` and the organization as `org`, with `params`. `breaker_key` names the breaker.
    """

    table: str
    breaker_key: str
    limits: CallLimits
    jobs: str
    params: Mapping[str, object] = field(default_factory=dict)


_ALLOWED = "(CAST(:slugs AS text[]) IS NULL OR org.slug = ANY(CAST(:slugs AS text[])))"


def default_scope(session: Session, settings: Settings) -> JobScope:
    """Returns the scope of the deployment's evaluator, which the variables EVALUATOR_* describe."""
    named = evaluator_config.current(session, settings).default_poll_interval_secs
    return JobScope(
        table="evaluation_jobs",
        breaker_key=breaker_key(settings),
        limits=CallLimits(
            timeout_secs=settings.evaluator_request_timeout_ms / 1000,
            max_attempts=settings.evaluator_max_attempts,
            poll_secs=settings.evaluator_polling_interval_secs if named is None else named,
            max_poll_secs=settings.evaluator_max_poll_duration_secs,
        ),
        jobs=_ALLOWED,
        params={"slugs": evaluator_slugs(settings)},
    )


def breaker_key(settings: Settings) -> str:
    """Returns the name of the breaker of the deployment's evaluator."""
    return settings.evaluator_endpoint or ""


def evaluator_slugs(settings: Settings) -> list[str] | None:
    """Returns EVALUATOR_ORGS as a list; None for all organizations."""
    if settings.evaluator_orgs is None:
        return None
    return [slug.strip() for slug in settings.evaluator_orgs.split(",")]
