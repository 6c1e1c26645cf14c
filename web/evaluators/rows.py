"""Rows of evaluators and their versions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from shared.evaluation.evaluators import activity, specs, versions
from shared.evaluation.evaluators.activity import HealthOfEvaluator, MonthOfEvaluator
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion
from shared.evaluation.evaluators.secrets import SetSecrets, set_secrets
from web.auth import current_identity, current_org_id
from web.evaluators import schemas
from web.responses import row_of
from web.state import runtime

# Who may write a definition sees all of it.
_WRITES = "settings:write"
_NO_SECRETS = SetSecrets(token=False, api_key=False, headers=[])


class EvaluatorEntry(NamedTuple):
    """What PostgreSQL knows of an evaluator."""

    evaluator: Evaluator
    active_version: str | None
    secrets: SetSecrets
    health: HealthOfEvaluator
    month: MonthOfEvaluator | None


def entries_of(session: Session, evaluators: Sequence[Evaluator]) -> list[EvaluatorEntry]:
    """Reads what belongs to these evaluators of the organization."""
    own = [one for one in evaluators if one.id is not None]
    active = versions.active_of(session, current_org_id(), own)
    secrets = set_secrets(session, own)
    health = activity.health_of(session, runtime().settings, evaluators)
    months = activity.months_of(session, evaluators)
    return [
        EvaluatorEntry(
            one,
            active[one.active_version_id].version if one.active_version_id in active else None,
            secrets.get(one.id, _NO_SECRETS),
            health[one.key],
            months.get(one.key),
        )
        for one in evaluators
    ]


def evaluator_rows(entries: Sequence[EvaluatorEntry]) -> list[dict[str, Any]]:
    """Returns rows of `EvaluatorRow`; asks ClickHouse, so no transaction should be open."""
    evaluators = [one.evaluator for one in entries]
    months = {one.evaluator.key: one.month for one in entries if one.month is not None}
    done = activity.activity_of(runtime().clickhouse, current_identity().org_id, evaluators, months)
    return [
        row_of(
            schemas.EvaluatorRow,
            entry.evaluator,
            done[entry.evaluator.key],
            builtin=entry.evaluator.id is None,
            sample=float(entry.evaluator.sample),
            pool=entry.evaluator.pool_id,
            active_version=entry.active_version,
            health=entry.health,
            secrets=entry.secrets,
        )
        for entry in entries
    ]


def version_rows(evaluator: Evaluator, listed: Sequence[EvaluatorVersion]) -> list[dict[str, Any]]:
    """Returns rows of `VersionRow`; asks ClickHouse, so no transaction should be open."""
    in_full = _WRITES in current_identity().permissions
    counted = activity.versions_of(
        runtime().clickhouse, current_identity().org_id, evaluator.key, listed
    )
    return [
        row_of(
            schemas.VersionRow,
            version,
            counted[version.version],
            evaluator=evaluator.key,
            spec=specs.shown(version.spec, in_full=in_full),
            active=version.id == evaluator.active_version_id,
        )
        for version in listed
    ]
