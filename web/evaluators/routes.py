"""Evaluators: list, create, change and delete them; their secrets and versions."""

from typing import Any

from shared.evaluation.evaluators import secrets, service, versions
from shared.evaluation.evaluators.builtins import builtin_evaluators
from shared.evaluation.evaluators.fields import require_key, require_kind
from shared.evaluation.evaluators.models import Evaluator
from shared.evaluation.evaluators.service import NewEvaluator
from shared.evaluation.evaluators.specs import PERMISSION_OF
from shared.foundation.cache import at_once
from shared.foundation.core.errors import NotFound
from shared.reading.evaluations.records import BUILTINS
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.evaluators import schemas
from web.evaluators.rows import entries_of, evaluator_rows, version_rows
from web.state import runtime
from web.transaction import Tx, in_transaction_at_once

blueprint = Blueprint("evaluators", "What scores sessions, in versions that never change")

# Who may configure an evaluator also needs the permission of its kind.
_FURTHER = tuple(dict.fromkeys(PERMISSION_OF.values()))


@blueprint.route("/evaluators")
@requires("evaluations:read")
@blueprint.arguments(schemas.EvaluatorQuery, location="query", as_kwargs=True)
@blueprint.response(200, schemas.EvaluatorList, errors=(504,))
def list_evaluators(archived: bool) -> dict[str, Any]:
    """List the built-in evaluators, then the organization's own by key."""
    with runtime().postgres.transaction() as session:
        own = service.list_(session, current_org_id(), archived=archived)
        entries = entries_of(session, [*_builtin(session), *own])
    return {"evaluators": evaluator_rows(entries)}


@blueprint.route("/evaluators", methods=["POST"])
@requires("settings:write")
@blueprint.needs_too(*_FURTHER)
@blueprint.arguments(schemas.EvaluatorBody)
@blueprint.response(201, schemas.EvaluatorRow, errors=(409, 504))
def create_evaluator(body: dict[str, Any]) -> dict[str, Any]:
    """Create an evaluator, with its first version and its secrets if they are there.

    It needs the permission of its kind, too: `queries:run` for sql, else `events:read`. A deleted
    evaluator of the same key and kind comes back with its versions, of which none is active. An
    organization has at most 500 evaluators, and 100 that are enabled.
    """
    wanted = NewEvaluator(
        require_key(body["key"]),
        require_kind(body["kind"]),
        body,
        body["version"],
        body["secrets"],
    )
    _require_kind_permission(wanted.kind)
    with at_once(runtime().postgres, runtime().redis) as session:
        made = service.create(
            session, current_org_id(), runtime().settings, wanted, current_identity().name
        )
        entries = entries_of(session, [made])
    return evaluator_rows(entries)[0]


@blueprint.route("/evaluators/<key>")
@requires("evaluations:read")
@blueprint.response(200, schemas.EvaluatorRow, errors=(504,))
def get_evaluator(key: str) -> dict[str, Any]:
    """Read one evaluator, also a deleted one."""
    with runtime().postgres.transaction() as session:
        entries = entries_of(session, [_readable(session, key)])
    return evaluator_rows(entries)[0]


@blueprint.route("/evaluators/<key>", methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(schemas.EvaluatorChangeBody)
@blueprint.response(200, schemas.EvaluatorRow, errors=(409, 504))
def change_evaluator(body: dict[str, Any], key: str) -> dict[str, Any]:
    """Change an evaluator. Absent fields stay as they are."""
    with at_once(runtime().postgres, runtime().redis) as session:
        evaluator = service.changeable(session, current_org_id(), key)
        service.update(session, evaluator, body)
        entries = entries_of(session, [evaluator])
    return evaluator_rows(entries)[0]


@blueprint.route("/evaluators/<key>", methods=["DELETE"])
@requires("settings:write")
@blueprint.response(204, errors=(409,))
@in_transaction_at_once
def delete_evaluator(tx: Tx, key: str) -> None:
    """Delete an evaluator. Its queued runs end without a result, and its results stay.

    Its key stays taken, until an evaluator of the same key and kind is created.
    """
    service.archive(tx.session, service.changeable(*tx, key))


@blueprint.route("/evaluators/<key>/secrets", methods=["PUT"])
@requires("settings:write")
@blueprint.needs_too(*_FURTHER)
@blueprint.arguments(schemas.SecretsBody)
@blueprint.response(200, schemas.ChangedSecrets, errors=(409,))
@in_transaction_at_once
def change_secrets(tx: Tx, body: dict[str, Any], key: str) -> dict[str, Any]:
    """Set and remove secrets of an evaluator. No answer ever shows them.

    They are sent to the origin alone that the active version has now. It needs the permission of
    the kind, too.
    """
    evaluator = service.changeable(*tx, key)
    _require_kind_permission(evaluator.kind)
    changes = secrets.parse_secrets(evaluator.kind, body, "")
    origin = service.active_origin(tx.session, evaluator)
    secrets.change_secrets(tx.session, runtime().settings, evaluator, origin, changes)
    return {"secrets": secrets.set_secrets(tx.session, [evaluator])[evaluator.id]}


@blueprint.route("/evaluators/<key>/versions")
@requires("evaluations:read")
@blueprint.response(200, schemas.VersionList, errors=(504,))
def list_evaluator_versions(key: str) -> dict[str, Any]:
    """List the versions of an evaluator, newest first; a built-in one has none."""
    with runtime().postgres.transaction() as session:
        evaluator = _readable(session, key)
        listed = versions.list_(session, evaluator) if evaluator.id is not None else []
    return {"versions": version_rows(evaluator, listed)}


@blueprint.route("/evaluators/<key>/versions", methods=["POST"])
@requires("settings:write")
@blueprint.needs_too(*_FURTHER)
@blueprint.arguments(schemas.VersionBody)
@blueprint.response(201, schemas.VersionRow, errors=(409, 504))
@blueprint.alt_response(
    200, schema=schemas.VersionRow, description="The version was there with the same content"
)
def publish_evaluator_version(body: dict[str, Any], key: str) -> tuple[dict[str, Any], int]:
    """Publish a version of an evaluator, which becomes active unless the body says otherwise.

    A version never changes. The same name with the same content is the same version (200); with
    another content it is refused. It needs the permission of the kind, too. An evaluator has at
    most 1,000 versions, each of at most 64 KiB.
    """
    with at_once(runtime().postgres, runtime().redis) as session:
        evaluator = service.changeable(session, current_org_id(), key)
        _require_kind_permission(evaluator.kind)
        wanted = versions.parse_version(evaluator.kind, body, runtime().settings)
        version, is_new = versions.publish(session, evaluator, wanted, current_identity().name)
    return version_rows(evaluator, [version])[0], 201 if is_new else 200


@blueprint.route("/evaluators/<key>/versions/<any_id:version>")
@requires("evaluations:read")
@blueprint.response(200, schemas.VersionRow, errors=(504,))
def get_evaluator_version(key: str, version: str) -> dict[str, Any]:
    """Read one version of an evaluator."""
    with runtime().postgres.transaction() as session:
        evaluator = _readable(session, key)
        if evaluator.id is None:
            raise NotFound.named("version", version)
        found = versions.get(session, evaluator, version)
    return version_rows(evaluator, [found])[0]


@blueprint.route("/evaluators/<key>/active", methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(schemas.ActiveVersionBody)
@blueprint.response(200, schemas.EvaluatorRow, errors=(409, 504))
def activate_evaluator_version(body: dict[str, Any], key: str) -> dict[str, Any]:
    """Activate a version of an evaluator, or none. Runs keep the version of their trigger."""
    with at_once(runtime().postgres, runtime().redis) as session:
        evaluator = service.changeable(session, current_org_id(), key)
        versions.activate(session, evaluator, body["version"])
        entries = entries_of(session, [evaluator])
    return evaluator_rows(entries)[0]


def _builtin(session: Any) -> list[Evaluator]:
    return builtin_evaluators(session, runtime().settings, current_identity().org_slug)


def _readable(session: Any, key: str) -> Evaluator:
    """Returns a built-in evaluator or one of the organization; raises `NotFound`."""
    if key in BUILTINS:
        return next(one for one in _builtin(session) if one.key == key)
    return service.get(session, current_org_id(), key)


def _require_kind_permission(kind: str) -> None:
    current_identity().require_any((PERMISSION_OF[kind],))
