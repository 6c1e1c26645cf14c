"""The command `doctor`: checks whether `watch` would work, and says what to do if not."""

from __future__ import annotations

import http.client
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Callable

from watchpost_collect import state
from watchpost_collect.client import USER_AGENT
from watchpost_collect.connection import Answer, Connection
from watchpost_collect.errors import (
    OK,
    REFUSED,
    TROUBLE,
    UNREACHABLE,
    CollectorError,
    Locked,
    UsageError,
)
from watchpost_collect.report import Report
from watchpost_collect.settings import Folders, Target
from watchpost_collect.spool import POISON, REASON_SUFFIX, REJECTED, Spool

_FINE, _WARNING, _FAILURE = "ok", "warn", "FAIL"
_PERMISSION = "events:add"
# Watchpost refuses events that are a day ahead; people notice wrong times much earlier.
_CLOCK_SECS = 60


@dataclass(frozen=True)
class Finding:
    """One line of the answer. `status` is the exit status that it asks for."""

    level: str
    subject: str
    text: str
    status: int = OK


def examine(
    read_target: Callable[[], Target], folders: Folders, state_folder: Path, report: Report
) -> int:
    """Writes what is fine and what is not, and returns the exit status."""
    worst = OK
    for finding in _findings(read_target, folders, state_folder):
        # The first failure is the cause of others. A warning never hides a failure.
        worst = finding.status if worst in (OK, TROUBLE) and finding.status else worst
        report.say(
            {"level": finding.level, "subject": finding.subject, "text": finding.text},
            f"{finding.level:4} {finding.subject}: {finding.text}",
        )
    return worst


def _findings(
    read_target: Callable[[], Target], folders: Folders, state_folder: Path
) -> Iterator[Finding]:
    try:
        target = read_target()
    except UsageError as error:
        yield Finding(_FAILURE, "settings", str(error), error.status)
    else:
        yield from _service(target)
    yield from _state(state_folder)
    for folder in folders.events:
        yield from _spool(Spool(folder), "events")
    for folder in folders.otlp:
        yield from _spool(Spool(folder), "otlp")
    for name, transcripts in (("claude", folders.claude), ("codex", folders.codex)):
        if transcripts is not None:
            yield from _transcripts(name, transcripts, state_folder)


def _service(target: Target) -> Iterator[Finding]:
    """Checks URL, clock, key and permission."""
    connection = Connection(target, {"User-Agent": USER_AGENT})
    try:
        health = connection.exchange("GET", "/v1/health", None, {})
        key = connection.exchange("GET", "/v1/auth/introspect", None, {})
    except (OSError, http.client.HTTPException) as error:
        text = f"cannot reach {target.url}: {error}. Check the URL and the network."
        yield Finding(_FAILURE, "url", text, UNREACHABLE)
        return
    finally:
        connection.close()
    if health.status != http.client.OK or health.document.get("status") != "ok":
        text = f"{target.url} answered {health.problem}; that is not Watchpost. Check the URL."
        yield Finding(_FAILURE, "url", text, UNREACHABLE)
        return
    yield Finding(_FINE, "url", target.url)
    yield _clock(health)
    yield _key(key)


def _key(answer: Answer) -> Finding:
    if answer.status in (401, 403):
        text = f"refused: {answer.problem}. Check WATCHPOST_KEY or --key-file."
        return Finding(_FAILURE, "key", text, REFUSED)
    if answer.status != http.client.OK:
        return Finding(_FAILURE, "key", f"cannot be checked: {answer.problem}", UNREACHABLE)
    name = answer.document.get("name")
    if _PERMISSION not in answer.document.get("permissions", ()):
        text = f"{name!r} lacks the permission {_PERMISSION}. Use a key that has it."
        return Finding(_FAILURE, "key", text, REFUSED)
    return Finding(_FINE, "key", f"{name!r} has the permission {_PERMISSION}")


def _clock(answer: Answer) -> Finding:
    try:
        there = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return Finding(_WARNING, "clock", "Watchpost's answer has no date to compare it with")
    ahead = time.time() - there
    if abs(ahead) <= _CLOCK_SECS:
        return Finding(_FINE, "clock", f"within {_CLOCK_SECS} s of Watchpost's")
    direction = "ahead of" if ahead > 0 else "behind"
    text = f"{abs(ahead):.0f} s {direction} Watchpost's. Set it, or events get wrong times."
    return Finding(_FAILURE, "clock", text, TROUBLE)


def _state(folder: Path) -> Iterator[Finding]:
    try:
        os.close(state.lock(folder))
    except Locked:
        yield Finding(_FINE, "state", f"{folder}; a watchpost-collect is running")
    except CollectorError as error:
        yield Finding(_FAILURE, "state", str(error), TROUBLE)
    else:
        yield Finding(_FINE, "state", f"{folder}; no watchpost-collect is running")


def _spool(spool: Spool, kind: str) -> Iterator[Finding]:
    folder = spool.folder
    if not folder.is_dir():
        yield Finding(_FINE, kind, f"{folder} does not exist; it is read once it does")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        text = f"{folder} cannot be written, so sent files could not be removed. Change its mode."
        yield Finding(_FAILURE, kind, text, TROUBLE)
        return
    waiting = len(spool.files())
    yield Finding(_FINE, kind, f"{folder}; {waiting} files wait")
    for name in (POISON, REJECTED):
        count = len(_data_files(folder / name))
        if count:
            text = (
                f"{count} files in {folder / name}. Read the reasons in the {REASON_SUFFIX} files,"
                " then move the files back or remove them."
            )
            yield Finding(_WARNING, kind, text, TROUBLE)


def _data_files(folder: Path) -> Sequence[Path]:
    return [path for path in folder.glob("*") if path.suffix != REASON_SUFFIX]


def _transcripts(kind: str, folder: Path, state_folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        text = f"{folder} does not exist. Start the agent once, or name the folder: --{kind} DIR."
        yield Finding(_WARNING, kind, text, TROUBLE)
        return
    if not os.access(folder, os.R_OK | os.X_OK):
        yield Finding(_FAILURE, kind, f"{folder} cannot be read. Change its mode.", TROUBLE)
        return
    known = state.State(state_folder)
    files = [path for path in folder.rglob("*.jsonl") if not path.name.startswith(".")]
    sent = sum(known.get(path).get("refused", True) is None for path in files)
    yield Finding(_FINE, kind, f"{folder}; {len(files)} transcripts, {sent} of them sent")
    for path in files:
        refused = known.get(path).get("refused")
        if refused:
            text = f"{path} was refused: {refused}. Later: watchpost-collect import {path}"
            yield Finding(_WARNING, kind, text, TROUBLE)
