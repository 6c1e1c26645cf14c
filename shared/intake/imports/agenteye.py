"""Files of events in the form of `POST /events`, such as the spool of an SDK."""

import msgspec
from msgspec import UNSET, UnsetType

from shared.intake.imports.assembling import Conversion, ImportTarget
from shared.intake.imports.file import ImportFile
from shared.intake.imports.node import Node
from shared.intake.ingest.decode import decode_events


class _EnvironmentField(msgspec.Struct):
    environment: str | UnsetType = UNSET


_decode_named = msgspec.json.Decoder(_EnvironmentField).decode


def knows(node: Node) -> bool:
    """Returns whether a line is of this format."""
    return "session_id" in node and "timestamp" in node and "type" in node


def read(file: ImportFile, target: ImportTarget) -> Conversion:
    """Accepts the lines as `POST /events` does; events without an environment get the target's.

    Their ids are those that they would have there, and so are their bytes, unless they lack
    dimensions that are given.
    """
    lines = file.lines()
    held = 1 if lines and file.is_cut(lines[-1]) else 0
    texts = [b""] * lines[-1].number if lines else []
    for line in lines[: len(lines) - held]:
        texts[line.number - 1] = line.text
    redact = target.redactor.redact if target.redactor else None
    decoded = decode_events(texts, target.org_id, target.max_event_bytes, redact)
    batch = decoded.batch
    batch.environments = [
        target.environment if named == "default" and _names_none(payload) else named
        for named, payload in zip(batch.environments, batch.payloads, strict=True)
    ]
    completed = [
        target.given.completed(payload, event_type, target.max_event_bytes)
        for payload, event_type in zip(batch.payloads, batch.event_types, strict=True)
    ]
    batch.payloads = [
        after if redact is None or after is before else redact(after)
        for before, after in zip(batch.payloads, completed, strict=True)
    ]
    return Conversion(
        batch=batch,
        lines=len(lines),
        skipped=decoded.skipped,
        held_back=held,
        errors=decoded.errors,
        reasons=decoded.reasons,
        bad={error.line: error.error for error, _ in decoded.bad},
    )


def _names_none(payload: bytes) -> bool:
    try:
        return _decode_named(payload).environment is UNSET
    except msgspec.MsgspecError:
        return False
