"""The secrets of evaluators: write-only, sealed, and each sent to one origin alone."""

import uuid
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared.access.audit_log import record
from shared.evaluation.evaluators.headers import MAX_HEADERS, is_sendable, require_header_names
from shared.evaluation.evaluators.models import Evaluator, EvaluatorSecret
from shared.evaluation.evaluators.sealing import SecretBox
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

IN_CLEAR = "SECRETS_KEY is not set: secrets of evaluators are stored in clear"

_HEADER = "header:"
# The secrets that an evaluator of a kind can have.
_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "push": ("token", "headers"),
    "judge": ("api_key",),
    "pull": (),
    "sql": (),
}

# A value for each name of a secret; None removes it.
SecretChanges = Mapping[str, str | None]


class SetSecrets(NamedTuple):
    """The secrets that an evaluator has: whether there is one, and the names of headers."""

    token: bool
    api_key: bool
    headers: list[str]


class SecretValues(NamedTuple):
    """The secrets of one call. `repr` hides them, because logs print values."""

    token: str | None
    api_key: str | None
    headers: dict[str, str]

    def __repr__(self) -> str:
        return "SecretValues(…)"


def parse_secrets(kind: str, value: object, path: str = "secrets.") -> dict[str, str | None]:
    """Returns the changes that decoded JSON describes, by the name of each secret.

    `path` is the prefix of the fields. Raises `Invalid` naming the field, without its value.
    """
    if not isinstance(value, dict):
        raise Invalid.field(path.rstrip(".") or "body", "must be an object")
    changes: dict[str, str | None] = {
        name: _value(f"{path}{name}", value[name]) for name in ("token", "api_key") if name in value
    }
    headers = value.get("headers")
    if headers is not None and not isinstance(headers, dict):
        raise Invalid.field(f"{path}headers", "must be an object")
    require_header_names(f"{path}headers", headers or {})
    for name, one in (headers or {}).items():
        changes[_HEADER + name] = _value(f"{path}headers.{name}", one)
    for name, given in changes.items():
        field = "headers" if name.startswith(_HEADER) else name
        if given is not None and field not in _OF_KIND[kind]:
            raise Invalid.field(f"{path}{field}", f"an evaluator of the kind {kind} has none")
    return changes


def change_secrets(
    session: Session,
    settings: Settings,
    evaluator: Evaluator,
    origin: str | None,
    changes: SecretChanges,
) -> None:
    """Sets and removes secrets of an evaluator, which is locked.

    They are sent to `origin` alone, that of the active version. Raises `Conflict` for a value
    without an origin, and `Invalid` for more headers than there can be.
    """
    if origin is None and any(value is not None for value in changes.values()):
        raise Conflict(
            "a secret belongs to the address of the active version: activate a version with an"
            " address first",
            code="no_version",
        )
    box = SecretBox(settings.secrets_key)
    stored = {row.name.lower(): row for row in _rows(session, [evaluator])}
    for name, value in changes.items():
        row = stored.pop(name.lower(), None)
        if row is not None:
            session.delete(row)
            session.flush()
        if value is not None:
            row = EvaluatorSecret(
                org_id=evaluator.org_id,
                evaluator_id=evaluator.id,
                name=name,
                origin=origin,
                sealed=box.seal(value, _place(evaluator, name, origin)),
            )
            session.add(row)
    session.flush()
    after = set_secrets(session, [evaluator])[evaluator.id]
    if len(after.headers) > MAX_HEADERS:
        raise Invalid.field("headers", f"an evaluator can have at most {MAX_HEADERS} of them")
    changed = {name: "removed" if value is None else "set" for name, value in changes.items()}
    record(
        session,
        evaluator.org_id,
        "evaluator.change_secrets",
        of=evaluator,
        after={"names": [f"{name}: {what}" for name, what in changed.items()], "origin": origin},
    )


def remove_secrets(session: Session, evaluator: Evaluator) -> None:
    """Removes all secrets of an evaluator."""
    own = delete(EvaluatorSecret).where(
        EvaluatorSecret.org_id == evaluator.org_id, EvaluatorSecret.evaluator_id == evaluator.id
    )
    session.execute(own)


def set_secrets(session: Session, evaluators: Iterable[Evaluator]) -> dict[uuid.UUID, SetSecrets]:
    """Returns which secrets these evaluators of one organization have, by their ids."""
    listed = list(evaluators)
    names: dict[uuid.UUID, set[str]] = {one.id: set() for one in listed}
    for row in _rows(session, listed):
        names[row.evaluator_id].add(row.name)
    return {found: _set_of(among) for found, among in names.items()}


def usable_for(
    session: Session, settings: Settings, evaluator: Evaluator, origin: str
) -> SecretValues:
    """Returns the secrets that a call to this origin carries.

    A secret that was set for another origin, or sealed with another key, is left out.
    """
    box = SecretBox(settings.secrets_key)
    values: dict[str, str] = {}
    for row in _rows(session, [evaluator]):
        if row.origin != origin:
            continue
        opened = box.open(row.sealed, _place(evaluator, row.name, origin))
        if opened is None:
            log.warning("secret_not_opened", evaluator_id=str(evaluator.id), name=row.name)
        else:
            values[row.name] = opened
    headers = {
        name.removeprefix(_HEADER): value
        for name, value in values.items()
        if name.startswith(_HEADER)
    }
    return SecretValues(values.get("token"), values.get("api_key"), headers)


def _rows(session: Session, evaluators: list[Evaluator]) -> list[EvaluatorSecret]:
    if not evaluators:
        return []
    own = select(EvaluatorSecret).where(
        EvaluatorSecret.org_id == evaluators[0].org_id,
        EvaluatorSecret.evaluator_id.in_([one.id for one in evaluators]),
    )
    return list(session.scalars(own))


def _set_of(names: set[str]) -> SetSecrets:
    headers = sorted(name.removeprefix(_HEADER) for name in names if name.startswith(_HEADER))
    return SetSecrets("token" in names, "api_key" in names, headers)


def _place(evaluator: Evaluator, name: str, origin: str | None) -> str:
    return f"{evaluator.org_id}/{evaluator.id}/{name}/{origin}"


def _value(field: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not is_sendable(value):
        raise Invalid.field(field, "must be printable characters of ASCII on a line, or null")
    return value
