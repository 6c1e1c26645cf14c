"""The command `try`: runs evaluators here, over exported sessions, and stores nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from watchpost_evaluator.connection import fetch, read_target
from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.errors import BadSession, KitError
from watchpost_evaluator.outcome import Outcome, run
from watchpost_evaluator.session import Session, read_session
from watchpost_evaluator.values import Value

_LONGEST_SHOWN = 160


def try_on(
    evaluators: Sequence[Evaluator],
    session_ids: Sequence[str],
    files: Sequence[Path],
    environ: Mapping[str, str],
    *,
    as_json: bool,
) -> int:
    """Prints what each evaluator makes of each session. Returns 1 if something failed.

    `session_ids` are read from Watchpost. Raises `KitError` for one that cannot be read, after the
    sessions before it.
    """
    failed = False
    for session in _sessions(session_ids, files, environ):
        if not as_json:
            _say(f"{session.id}: {len(session.events)} events, {session.duration_secs:.1f} s")
        for evaluator in evaluators:
            outcome = run(evaluator, session)
            failed |= outcome.status in ("error", "timeout")
            if as_json:
                _say(json.dumps({"session_id": session.id, **outcome.to_json()}))
            else:
                for line in shown(outcome):
                    _say(f"  {line}")
    return 1 if failed else 0


def _sessions(
    session_ids: Iterable[str], files: Iterable[Path], environ: Mapping[str, str]
) -> Iterator[Session]:
    for session_id in session_ids:
        yield fetch(read_target(environ, "WATCHPOST_KEY"), session_id)
    for file in files:
        yield read_file(file)


def read_file(file: Path) -> Session:
    """Returns the session of an exported file. Raises `KitError`."""
    try:
        return read_session(file.read_bytes())
    except OSError as error:
        raise KitError(f"cannot read {file}: {error.strerror}") from error
    except BadSession as error:
        raise KitError(f"{file} is no exported session: {error}") from error


def shown(outcome: Outcome) -> Iterator[str]:
    """Yields lines for people: one for each value, or for the reason why there is none."""
    name = outcome.evaluator.name
    if outcome.status != "done":
        yield f"{name}  {outcome.status}: {outcome.reason or outcome.error}"
        return
    for key, value in outcome.results.items():
        yield "  ".join([name, *([key] if key != outcome.evaluator.key else []), *_parts(value)])
    if outcome.summary:
        yield f"{name}  {_short(outcome.summary)}"


def _parts(value: Value) -> Iterator[str]:
    unit = getattr(value, "unit", "")
    plain = f"{value.value:g}" if isinstance(value.value, float) else str(value.value).lower()
    if isinstance(value.value, str):
        plain = _short(value.value)
    yield f"{plain} {unit}".rstrip()
    if value.passed is not None and value.kind != "assertion":
        yield "passed" if value.passed else "not passed"
    if value.reasoning:
        yield _short(value.reasoning)
    if value.evidence:
        yield f"(events {', '.join(map(str, value.evidence[:5]))}{'…' * (len(value.evidence) > 5)})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
