"""Evaluators of organizations for tests."""

import uuid
from typing import Any

from sqlalchemy.orm import Session

from shared.evaluation.evaluators import pools, service
from shared.evaluation.evaluators.fields import require_key, require_kind
from shared.evaluation.evaluators.models import Evaluator
from shared.evaluation.evaluators.service import NewEvaluator
from shared.foundation.core.config import Settings
from tests.support.runtime import Org

URL = "https://evaluators.example.com/base"
# A spec, and results where the kind needs them.
VERSIONS: dict[str, dict[str, Any]] = {
    "push": {"spec": {"url": URL}},
    "pull": {"spec": {}},
    "sql": {
        "spec": {"sql": "SELECT session_id, count() AS events FROM events GROUP BY session_id"},
        "results": [{"key": "events", "kind": "number"}],
    },
    "judge": {
        "spec": {"base_url": URL, "model": "m", "criteria": "Was the refund right?"},
        "results": [{"key": "right", "kind": "assertion"}],
    },
}


def new_pool(session: Session, org: Org, name: str = "pool") -> uuid.UUID:
    """Creates a pool of workers; returns its id."""
    made, _token = pools.create(session, org.uuid, name, "somebody", may_define=True)
    return made.id


def new_evaluator(
    session: Session,
    settings: Settings,
    org: Org,
    key: str = "refund_policy",
    kind: str = "push",
    *,
    version: dict[str, Any] | None = None,
    secrets: object = None,
    **given: object,
) -> Evaluator:
    """Creates an evaluator of an organization; `version={}` gives it a first version."""
    if kind == "pull" and "pool" not in given:
        given["pool"] = str(new_pool(session, org, f"of {key}"))
    first = None if version is None else {**VERSIONS[kind], **version}
    wanted = NewEvaluator(require_key(key), require_kind(kind), given, first, secrets)
    return service.create(session, org.uuid, settings, wanted, "somebody")
