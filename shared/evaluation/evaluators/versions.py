"""The versions of evaluators: published once, never changed, and one of them active."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from shared.access.audit_log import record
from shared.evaluation.evaluators import declarations, limits, specs
from shared.evaluation.evaluators.conditions import parsing as conditions
from shared.evaluation.evaluators.exact import known_fields, plain, text_or_none
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion
from shared.foundation.core import bounds
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.postgres import transaction_time
from shared.foundation.postgres.rows import flush_unique

LARGE = ("cut", "turns", "pages", "error")
MAX_NAME_BYTES = 128
MAX_NOTE_CHARS = 2000

_FIELDS = ("version", "note", "spec", "condition", "results", "large", "activate")


class VersionContent(NamedTuple):
    """The content of a version; its checksum names it in all deployments."""

    kind: str
    spec: specs.Spec
    condition: dict[str, Any] | None
    results: list[dict[str, Any]]
    large: str

    def canonical(self) -> bytes:
        """Returns the content as JSON in one spelling: sorted, without blanks, in UTF-8."""
        text = json.dumps(
            plain(self._asdict()), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        return text.encode()

    def checksum(self) -> str:
        """Returns the SHA-256 of `canonical`, in hexadecimal digits."""
        return hashlib.sha256(self.canonical()).hexdigest()


class NewVersion(NamedTuple):
    """A version to publish, checked; without a `name` it gets the next number."""

    content: VersionContent
    name: str | None
    note: str
    activate: bool


def parse_version(
    kind: str, value: Mapping[str, Any], settings: Settings, path: str = ""
) -> NewVersion:
    """Returns the version that decoded JSON describes; raises `Invalid` naming the field.

    `path` is the prefix of the fields, such as `version.`.
    """
    given = known_fields(path.rstrip(".") or "body", value, _FIELDS)
    declared = declarations.parse(given.get("results", []), f"{path}results")
    specs.require_results(kind, declared, f"{path}results")
    conditions.parse(given.get("condition"), f"{path}condition")
    large = _text(path, given, "large") or LARGE[0]
    activate = given.get("activate", True)
    if not isinstance(activate, bool):
        raise Invalid.field(f"{path}activate", "must be true or false")
    content = VersionContent(
        kind=kind,
        spec=specs.parse_spec(kind, given.get("spec"), settings, f"{path}spec"),
        condition=plain(given.get("condition")),
        results=[one.json() for one in declared],
        large=bounds.require_one_of(f"{path}large", large, LARGE),
    )
    if len(content.canonical()) > limits.MAX_DEFINITION_BYTES:
        most = limits.MAX_DEFINITION_BYTES // 1024
        raise Invalid.field(f"{path}spec", f"the whole definition must have at most {most} KiB")
    note = bounds.require_text(f"{path}note", _text(path, given, "note") or "", most=MAX_NOTE_CHARS)
    name = _text(path, given, "version")
    return NewVersion(content, None if name is None else _name(path, name), note, activate)


def publish(
    session: Session, evaluator: Evaluator, wanted: NewVersion, by: str
) -> tuple[EvaluatorVersion, bool]:
    """Stores a version of an evaluator, which is locked; returns whether it is new.

    One of the same name with the same content stays as it is. Both become active if wanted. Raises
    `Conflict` if the content differs, and at the limit of versions.
    """
    checksum = wanted.content.checksum()
    known = None if wanted.name is None else _named(session, evaluator, wanted.name)
    if known is not None and known.checksum != checksum:
        raise Conflict(
            f'the version "{known.version}" has another content: choose another name',
            code="version_exists",
        )
    version = known or _stored(session, evaluator, wanted, checksum, by)
    if wanted.activate and evaluator.active_version_id != version.id:
        _activate(session, evaluator, version)
    return version, known is None


def activate(session: Session, evaluator: Evaluator, name: object) -> None:
    """Makes a version of an evaluator, which is locked, the active one; None: nothing runs.

    Raises `Invalid` naming the field if there is no such version.
    """
    if name is None:
        return _activate(session, evaluator, None)
    version = _named(session, evaluator, name) if isinstance(name, str) else None
    if version is None:
        raise Invalid.field("version", "must be the name of a version of this evaluator, or null")
    return _activate(session, evaluator, version)


def list_(session: Session, evaluator: Evaluator) -> list[EvaluatorVersion]:
    """Lists the versions of an evaluator, newest first."""
    return list(session.scalars(_of(evaluator).order_by(EvaluatorVersion.number.desc())))


def get(session: Session, evaluator: Evaluator, name: str) -> EvaluatorVersion:
    """Returns one version; raises `NotFound`."""
    version = _named(session, evaluator, name)
    if version is None:
        raise NotFound.named("version", name)
    return version


def active_of(
    session: Session, org_id: uuid.UUID, evaluators: list[Evaluator]
) -> dict[uuid.UUID, EvaluatorVersion]:
    """Returns the active versions of these evaluators, by their own ids."""
    ids = [one.active_version_id for one in evaluators if one.active_version_id is not None]
    rows = select(EvaluatorVersion).where(
        EvaluatorVersion.org_id == org_id, EvaluatorVersion.id.in_(ids)
    )
    return {row.id: row for row in session.scalars(rows)} if ids else {}


def _stored(
    session: Session, evaluator: Evaluator, wanted: NewVersion, checksum: str, by: str
) -> EvaluatorVersion:
    limits.require_room_for_version(session, evaluator)
    newest = select(func.max(EvaluatorVersion.number)).where(
        EvaluatorVersion.org_id == evaluator.org_id, EvaluatorVersion.evaluator_id == evaluator.id
    )
    number = (session.scalar(newest) or 0) + 1
    content = wanted.content
    version = EvaluatorVersion(
        org_id=evaluator.org_id,
        evaluator_id=evaluator.id,
        version=wanted.name or _free_name(session, evaluator, number),
        number=number,
        note=wanted.note,
        spec=content.spec,
        condition=content.condition,
        results=content.results,
        large=content.large,
        checksum=checksum,
        published_by=by,
        published_at=transaction_time(session),
    )
    session.add(version)
    taken = Conflict("somebody else published this version just now", code="version_exists")
    flush_unique(session, {"uq_evaluator_versions": taken})
    record(
        session,
        evaluator.org_id,
        "evaluator_version.publish",
        target=version.id,
        name=_shown_name(evaluator, version),
        after={
            **content._asdict(),
            "spec": specs.shown(content.spec, in_full=False),
            "note": wanted.note,
            "checksum": checksum,
        },
    )
    return version


def _activate(session: Session, evaluator: Evaluator, version: EvaluatorVersion | None) -> None:
    before = active_of(session, evaluator.org_id, [evaluator]).get(
        evaluator.active_version_id or evaluator.id
    )
    evaluator.active_version_id = None if version is None else version.id
    evaluator.updated_at = transaction_time(session)
    named = version or before
    record(
        session,
        evaluator.org_id,
        "evaluator_version.activate",
        target=None if named is None else named.id,
        name=evaluator.key if named is None else _shown_name(evaluator, named),
        before={"active": None if before is None else before.version},
        after={"active": None if version is None else version.version},
    )


def _free_name(session: Session, evaluator: Evaluator, number: int) -> str:
    """Returns the number as a name, or the next one that no version has."""
    taken = set(
        session.scalars(
            select(EvaluatorVersion.version).where(
                EvaluatorVersion.org_id == evaluator.org_id,
                EvaluatorVersion.evaluator_id == evaluator.id,
            )
        )
    )
    while str(number) in taken:
        number += 1
    return str(number)


def _shown_name(evaluator: Evaluator, version: EvaluatorVersion) -> str:
    return f"{evaluator.key}@{version.version}"


def _of(evaluator: Evaluator) -> Select[EvaluatorVersion]:
    return select(EvaluatorVersion).where(
        EvaluatorVersion.org_id == evaluator.org_id, EvaluatorVersion.evaluator_id == evaluator.id
    )


def _named(session: Session, evaluator: Evaluator, name: str) -> EvaluatorVersion | None:
    if not _is_name(name):
        return None
    return session.scalars(_of(evaluator).where(EvaluatorVersion.version == name)).one_or_none()


def _name(path: str, name: str) -> str:
    if not _is_name(name):
        raise Invalid.field(
            f"{path}version", f"must have 1 to {MAX_NAME_BYTES} bytes without control characters"
        )
    return name


def _is_name(name: str) -> bool:
    encoded = name.encode(errors="replace")
    return 1 <= len(encoded) <= MAX_NAME_BYTES and name.isprintable()


def _text(path: str, given: Mapping[str, Any], name: str) -> str | None:
    return text_or_none(path.rstrip("."), given, name) if path else _bare_text(given, name)


def _bare_text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid.field(name, "must be a text")
    return value
