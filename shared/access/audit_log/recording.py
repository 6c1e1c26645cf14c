"""Writes lines of the audit log."""

import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy.orm import Session

from shared.access.audit_log.caller import Caller, current_caller
from shared.access.audit_log.models import AuditLine

# Longer texts are cut, such as statements and descriptions.
MAX_CHARS = 2000
# More than this many characters of JSON are left out, field by field, the longest first.
MAX_JSON = 16 * 1024
HIDDEN = "[hidden]"
LEFT_OUT = "[too long]"

_ACTION = re.compile(r"[a-z_]+\.[a-z_]+")
# The second line of defence: callers pass no secrets.
_PASSWORD_IN_URL = re.compile(r"(://[^/@\s:]*:)[^/@\s]+@")
_SECRET = re.compile(r"(?i)secret|password|passwd|token$|_hash$|authorization|cookie|credential")


def record(
    session: Session,
    org_id: uuid.UUID | None,
    action: str,
    *,
    of: object = None,
    target: object = None,
    name: str | None = None,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    by: Caller | None = None,
) -> None:
    """Adds a line to the log of an organization, in the transaction of the change.

    Without an organization it belongs to the operator's log. `action` is `noun.verb`. `target` is
    the id and `name` the name of what the action is about; `of` is a row that has both. `before`
    and `after` are its fields; with both, only those that differ are stored. Never pass secrets.
    `by` is the caller if the request has no credential yet, as at sign-in. Raises `ValueError` for
    an action of another form.
    """
    if not _ACTION.fullmatch(action):
        raise ValueError(f"{action} is no action: name it noun.verb")
    if of is not None:
        target, name = getattr(of, "id"), getattr(of, "name")  # noqa: B009 rows have no common type
    caller = by or current_caller()
    old, new = _stored(before), _stored(after)
    if old is not None and new is not None:
        differing = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        old, new = _only(old, differing), _only(new, differing)
    session.add(
        AuditLine(
            org_id=org_id,
            actor_kind=caller.kind,
            actor_id=caller.id,
            actor=_storable(caller.name),
            key_name=caller.key_name,
            way=caller.way,
            address=caller.address,
            request_id=caller.request_id,
            noun=action.partition(".")[0],
            action=action,
            target_id=None if target is None else _storable(str(target)),
            target=None if name is None else _storable(name),
            before=_bounded(old),
            after=_bounded(new),
        )
    )


def fields_of(row: object, *names: str) -> dict[str, object]:
    """Returns these attributes of a row, as values of a line."""
    return {name: getattr(row, name) for name in names}


def _stored(values: Mapping[str, object] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    return {
        _storable(name): HIDDEN if _SECRET.search(name) and value else _plain(value)
        for name, value in values.items()
    }


def _plain(value: object) -> Any:
    """Returns a value as JSON: sets sorted, secrets inside hidden, texts storable."""
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(item) for item in value)
    if isinstance(value, Mapping):
        return _stored({str(name): item for name, item in value.items()})
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    plain = msgspec.to_builtins(value)
    return _storable(plain) if isinstance(plain, str) else plain


def _storable(text: str) -> str:
    """Returns the text, cut, without passwords of URLs.

    PostgreSQL refuses U+0000 and lone surrogates, so they are replaced.
    """
    text = _PASSWORD_IN_URL.sub(rf"\1{HIDDEN}@", text)
    clean = text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return clean if len(clean) <= MAX_CHARS else clean[:MAX_CHARS] + "…"


def _only(values: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _bounded(values: dict[str, Any] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    sizes = {name: len(json.dumps(value)) for name, value in values.items()}
    for name in sorted(sizes, key=lambda one: -sizes[one]):
        if sum(sizes.values()) <= MAX_JSON:
            break
        values[name], sizes[name] = LEFT_OUT, len(LEFT_OUT)
    return values
