"""Evaluators of an organization: creates, lists, changes and deletes them.

The web tier checks permissions. A deleted one keeps its key, its versions and its results; the same
key of the same kind brings it back.
"""

import re
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Select, delete, false, select, text
from sqlalchemy.orm import Session

from shared.access.audit_log import record
from shared.evaluation.evaluation_jobs.models import CALLABLE
from shared.evaluation.evaluation_jobs.run_models import EvaluatorRun
from shared.evaluation.evaluators import fields, limits, specs, versions
from shared.evaluation.evaluators.builtins import require_own
from shared.evaluation.evaluators.models import Evaluator, EvaluatorPool, EvaluatorVersion
from shared.evaluation.evaluators.secrets import change_secrets, parse_secrets, remove_secrets
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import change


class NewEvaluator(NamedTuple):
    """An evaluator to create; `given` are decoded fields, `version` and `secrets` decoded JSON."""

    key: str
    kind: str
    given: Mapping[str, object]
    version: Mapping[str, Any] | None = None
    secrets: object = None


def list_(session: Session, org_id: uuid.UUID, *, archived: bool) -> list[Evaluator]:
    """Lists the organization's own evaluators by key; with `archived` the deleted ones, too."""
    rows = _of(org_id).order_by(Evaluator.key)
    if not archived:
        rows = rows.where(Evaluator.archived_at.is_(None))
    return list(session.scalars(rows))


def get(session: Session, org_id: uuid.UUID, key: str) -> Evaluator:
    """Returns one evaluator, also a deleted one; raises `NotFound`."""
    found = session.scalars(_keyed(org_id, key)).one_or_none()
    if found is None:
        raise NotFound.named("evaluator", key)
    return found


def changeable(session: Session, org_id: uuid.UUID, key: str) -> Evaluator:
    """Locks one evaluator until the transaction ends.

    Raises `Conflict` for a built-in one, and `NotFound`, also for a deleted one.
    """
    require_own(key)
    found = session.scalars(_keyed(org_id, key).with_for_update()).one_or_none()
    if found is None or found.archived_at is not None:
        raise NotFound.named("evaluator", key)
    return found


def create(
    session: Session, org_id: uuid.UUID, settings: Settings, wanted: NewEvaluator, by: str
) -> Evaluator:
    """Creates an evaluator with its first version and its secrets, or brings a deleted one back.

    Raises `Invalid` naming the field, and `Conflict` if the key is taken and at the limits.
    """
    require_own(wanted.key)
    columns = _columns({**fields.defaults(wanted.key), **fields.checked(wanted.given)})
    version = None
    if wanted.version is not None:
        version = versions.parse_version(wanted.kind, wanted.version, settings, "version.")
    changes = {} if wanted.secrets is None else parse_secrets(wanted.kind, wanted.secrets)
    limits.hold(session, org_id)
    evaluator = _free(session, org_id, wanted)
    _require_pool(session, org_id, wanted.kind, columns["pool_id"])
    limits.require_room_for_evaluator(session, org_id)
    if columns["enabled"]:
        limits.require_room_for_enabled(session, org_id)
    moment = transaction_time(session)
    since = moment if columns["enabled"] else None
    for name, value in {**columns, "enabled_since": since, "archived_at": None}.items():
        setattr(evaluator, name, value)
    evaluator.created_by, evaluator.created_at, evaluator.updated_at = by, moment, moment
    session.add(evaluator)
    session.flush()
    record(session, org_id, "evaluator.create", of=evaluator, after=_logged(evaluator))
    if version is not None:
        versions.publish(session, evaluator, version, by)
    if changes:
        change_secrets(session, settings, evaluator, active_origin(session, evaluator), changes)
    return evaluator


def update(session: Session, evaluator: Evaluator, given: Mapping[str, object]) -> None:
    """Changes those fields of an evaluator, which is locked, that are given.

    Raises `Invalid` naming the field, and `Conflict` for another key or kind and at the limit.
    """
    for name in ("key", "kind"):
        if given.get(name) not in (None, getattr(evaluator, name)):
            raise Conflict(f"the {name} of an evaluator never changes", code="immutable")
    is_same_seed = given.get("sample_seed") == evaluator.sample_seed
    left_out = {"sample_seed"} if is_same_seed else set()
    columns = _columns(
        fields.checked({name: one for name, one in given.items() if name not in left_out})
    )
    limits.hold(session, evaluator.org_id)
    if "pool_id" in columns:
        _require_pool(session, evaluator.org_id, evaluator.kind, columns["pool_id"])
    if columns.get("enabled", evaluator.enabled) != evaluator.enabled:
        columns["enabled_since"] = None
        if columns["enabled"]:
            limits.require_room_for_enabled(session, evaluator.org_id)
            columns["enabled_since"] = transaction_time(session)
    before = _logged(evaluator)
    change(session, evaluator, columns)
    after = _logged(evaluator)
    record(session, evaluator.org_id, "evaluator.update", of=evaluator, before=before, after=after)


def archive(session: Session, evaluator: Evaluator) -> None:
    """Deletes an evaluator, which is locked: its queued runs end without a result.

    Its versions and results stay. A call under way changes nothing, because its run is gone.
    """
    before = _logged(evaluator)
    record(session, evaluator.org_id, "evaluator.delete", of=evaluator, before=before)
    queued = delete(EvaluatorRun).where(
        EvaluatorRun.org_id == evaluator.org_id,
        EvaluatorRun.evaluator_id == evaluator.id,
        text(CALLABLE),
    )
    session.execute(queued)
    remove_secrets(session, evaluator)
    gone = {
        "archived_at": transaction_time(session),
        "enabled": False,
        "enabled_since": None,
        "active_version_id": None,
        "pool_id": None,
    }
    change(session, evaluator, gone)


def active_origin(session: Session, evaluator: Evaluator) -> str | None:
    """Returns the origin that the active version sends transcripts to, None without one."""
    if evaluator.active_version_id is None:
        return None
    row = select(EvaluatorVersion).where(
        EvaluatorVersion.org_id == evaluator.org_id,
        EvaluatorVersion.id == evaluator.active_version_id,
    )
    return specs.origin(evaluator.kind, session.scalars(row).one().spec)


def _free(session: Session, org_id: uuid.UUID, wanted: NewEvaluator) -> Evaluator:
    """Returns the row for a new evaluator: that of a deleted one, if it has the key."""
    row = session.scalars(_keyed(org_id, wanted.key).with_for_update()).one_or_none()
    if row is None:
        return Evaluator(org_id=org_id, key=wanted.key, kind=wanted.kind)
    if row.archived_at is None:
        raise Conflict(
            f'there is an evaluator "{wanted.key}": choose another key', code="evaluator_exists"
        )
    if row.kind != wanted.kind:
        raise Conflict(
            f'the key "{wanted.key}" belongs to a deleted evaluator of the kind {row.kind}:'
            " choose another key",
            code="evaluator_exists",
        )
    return row


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns of writable fields."""
    return {"pool_id" if name == "pool" else name: value for name, value in values.items()}


def _require_pool(
    session: Session, org_id: uuid.UUID, kind: str, pool_id: uuid.UUID | None
) -> None:
    if kind != "pull":
        if pool_id is not None:
            raise Invalid.field("pool", "only an evaluator of the kind pull has one")
        return
    known = select(EvaluatorPool.id).where(
        EvaluatorPool.org_id == org_id, EvaluatorPool.id == pool_id
    )
    if pool_id is None or session.scalar(known) is None:
        raise Invalid.field("pool", "must be the id of a pool of this organization")


def _logged(evaluator: Evaluator) -> dict[str, object]:
    values = {name: getattr(evaluator, name) for name in fields.WRITABLE if name != "pool"}
    return {
        "key": evaluator.key,
        "kind": evaluator.kind,
        **values,
        "sample": float(evaluator.sample),
        "pool": evaluator.pool_id,
    }


def _of(org_id: uuid.UUID) -> Select[Evaluator]:
    return select(Evaluator).where(Evaluator.org_id == org_id)


def _keyed(org_id: uuid.UUID, key: str) -> Select[Evaluator]:
    # No key has other characters, and PostgreSQL refuses some of them.
    is_key = re.fullmatch(fields.KEY_PATTERN, key) is not None
    return _of(org_id).where(Evaluator.key == key if is_key else false())
