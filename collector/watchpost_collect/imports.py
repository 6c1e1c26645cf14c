"""Whole files in formats of others, sent to `POST /v1/events/import`."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from watchpost_collect.client import Client, Declined
from watchpost_collect.dimensions import Dimensions
from watchpost_collect.report import Report

PATH = "/v1/events/import"
FORMATS = ("auto", "agenteye", "failproofai", "claude", "codex", "otlp", "atif")
_GZIP = b"\x1f\x8b"
_HEADERS = {"Content-Type": "application/octet-stream"}


@dataclass(frozen=True)
class Wishes:
    """The way to read a file. Watchpost decides the fields that are None."""

    format: str | None = None
    environment: str | None = None
    started_at: str | None = None
    dry_run: bool = False
    replace: bool = False
    dimensions: Dimensions = field(default_factory=Dimensions)


def import_files(client: Client, report: Report, paths: Sequence[Path], wishes: Wishes) -> int:
    """The command `import`. Returns the exit status."""
    for path in paths:
        _import_file(client, report, path, wishes)
    return report.summary(left=len(paths) - report.files)


def _import_file(client: Client, report: Report, path: Path, wishes: Wishes) -> None:
    try:
        send(client, report, path, path.read_bytes(), wishes)
    except (Declined, OSError) as error:
        report.refused(path, str(error))
    else:
        report.done(path)


def send(client: Client, report: Report, path: Path, data: bytes, wishes: Wishes) -> None:
    """Imports the bytes of one file, and reports the answer. Raises `Declined`."""
    asked = {
        "path": "/".join(path.resolve().parts[-2:]),
        "format": wishes.format,
        "environment": wishes.environment,
        "started_at": wishes.started_at,
        "dry_run": "true" if wishes.dry_run else None,
        "replace": "true" if wishes.replace else None,
        **wishes.dimensions.query,
    }
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    body = data if data.startswith(_GZIP) else gzip.compress(data, 6)
    answer = client.post(f"{PATH}?{query}", body, _HEADERS, counts=("accepted", "skipped"))
    document = answer.document
    report.accepted += document["accepted"]
    report.skipped += document["skipped"]
    report.say({"file": str(path), "to": PATH, "status": 200, **document}, _told(path, document))
    if document.get("skipped_sessions"):
        report.has_trouble = True


def _told(path: Path, answer: dict[str, Any]) -> str:
    """Returns the line of an answer, and below it the reasons of what was skipped."""
    told = [f"{answer.get('format')}{', dry run' if answer.get('dry_run') else ''}"]
    counts = ("accepted", "duplicate", "skipped", "ignored", "held_back")
    told += [f"{answer.get(name, 0)} {name.replace('_', ' ')}" for name in counts]
    if answer.get("replaced"):
        told.append(f"{answer['replaced']} replaced")
    told.append(f"{answer.get('session_count', 0)} sessions")
    lines = [f"{path}: {', '.join(told)}"]
    lines += [f"  line {error['line']}: {error['error']}" for error in answer.get("errors", ())]
    for session in answer.get("skipped_sessions", ()):
        lines.append(f"  session {session['session_id']}: {session['reason']}")
    return "\n".join(lines)
