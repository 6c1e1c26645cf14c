"""The built-in evaluators: `default`, which variables describe, and `otlp`, which runs nothing."""

from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import evaluator_config
from shared.evaluation.evaluators import fields
from shared.evaluation.evaluators.models import Evaluator
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict
from shared.reading.evaluations.records import BUILTINS, DEFAULT, OTLP

# Results of OpenTelemetry have no evaluator that is called.
OTLP_KIND = "otlp"


def require_own(key: str) -> None:
    """Raises `Conflict` for the key of a built-in evaluator."""
    if key in BUILTINS:
        raise Conflict(
            f"{key} is built in: the operator of this deployment configures it",
            code="builtin_evaluator",
        )


def builtin_evaluators(session: Session, settings: Settings, org_slug: str) -> list[Evaluator]:
    """Returns the built-in evaluators as rows that are stored nowhere."""
    idle = evaluator_config.current(session, settings).inactivity_timeout_secs
    return [
        _row(
            DEFAULT,
            kind="push",
            description="The evaluator of this deployment",
            enabled=settings.may_evaluate(org_slug),
            concurrency=settings.evaluator_concurrency,
            timeout_ms=settings.evaluator_request_timeout_ms,
            max_attempts=settings.evaluator_max_attempts,
            poll_max_secs=round(settings.evaluator_max_poll_duration_secs),
            idle_secs=None if idle is None else round(idle),
        ),
        _row(OTLP, kind=OTLP_KIND, description="Results that came over OpenTelemetry"),
    ]


def _row(key: str, **values: object) -> Evaluator:
    columns = {**fields.defaults(key), **values}
    columns["pool_id"] = columns.pop("pool")
    return Evaluator(key=key, **columns)
