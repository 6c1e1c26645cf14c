"""The definition of a run: a version, and the limits of its evaluator."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.scope import CallLimits, JobScope
from shared.evaluation.evaluators import specs
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion
from shared.evaluation.evaluators.secrets import SecretValues, usable_for
from shared.foundation.core.config import Settings

# The time between polls if an answer names none.
POLL_SECS = 10.0


@dataclass(frozen=True)
class RunDefinition:
    """A version of an evaluator, and how its runs are called.

    `spec` and `results` are as they were published. `secrets` are those of the spec's address.
    """

    evaluator_id: UUID
    key: str
    kind: str
    version: str
    spec: dict[str, Any]
    results: list[dict[str, Any]]
    large: str
    limits: CallLimits
    secrets: SecretValues

    @property
    def scope(self) -> JobScope:
        """The runs of the evaluator, of whatever version."""
        return JobScope(
            table="evaluator_runs",
            breaker_key=str(self.evaluator_id),
            limits=self.limits,
            jobs="job.evaluator_id = :evaluator_id",
            params={"evaluator_id": self.evaluator_id},
        )


def definitions_of(
    session: Session, settings: Settings, version_ids: Collection[UUID]
) -> dict[UUID, RunDefinition]:
    """Returns the definitions of these versions, with the limits and secrets that hold now."""
    query = (
        select(Evaluator, EvaluatorVersion)
        .join(EvaluatorVersion, EvaluatorVersion.evaluator_id == Evaluator.id)
        .where(EvaluatorVersion.id.in_(version_ids))
    )
    return {
        version.id: RunDefinition(
            evaluator_id=evaluator.id,
            key=evaluator.key,
            kind=evaluator.kind,
            version=version.version,
            spec=version.spec,
            results=version.results,
            large=version.large,
            limits=CallLimits(
                timeout_secs=evaluator.timeout_ms / 1000,
                max_attempts=evaluator.max_attempts,
                poll_secs=POLL_SECS,
                max_poll_secs=evaluator.poll_max_secs,
            ),
            secrets=_secrets(session, settings, evaluator, version),
        )
        for evaluator, version in session.execute(query)
    }


def _secrets(
    session: Session, settings: Settings, evaluator: Evaluator, version: EvaluatorVersion
) -> SecretValues:
    origin = specs.origin(evaluator.kind, version.spec)
    if origin is None:
        return SecretValues(None, None, {})
    return usable_for(session, settings, evaluator, origin)
