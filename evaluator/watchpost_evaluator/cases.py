"""The command `test`: sessions in files, with what an evaluator has to make of them.

A case is a JSON object: `session` (an export, or a list of events) or `file` (an export beside the
case), `evaluator` (a key, or key@version) and `expect`. `expect` has the values by key, or
`{"skip": reason}`, or `{"error": a part of it}`. A value may be an object with some of `value`,
`kind`, `passed`, `unit`, `evidence`, and `reasoning`, of which a part is enough.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from watchpost_evaluator.definition import Evaluator, chosen
from watchpost_evaluator.errors import BadSession, UsageError
from watchpost_evaluator.outcome import Outcome, run, wire
from watchpost_evaluator.session import Session, session_of
from watchpost_evaluator.trying import read_file

_FIELDS = {"value", "kind", "passed", "unit", "reasoning", "evidence", "labels"}


@dataclass(frozen=True)
class Case:
    """A case of a file. `expect`: see the module."""

    name: str
    evaluator: Evaluator
    session: Session
    expect: Mapping[str, Any]


def run_cases(evaluators: Sequence[Evaluator], folder: Path) -> int:
    """Runs the cases of a folder and prints differences. Returns 1 if there is one.

    Raises `UsageError` for a file that is no case.
    """
    files = sorted(folder.rglob("*.json"))
    cases = [read_case(file, evaluators) for file in files if _is_case(file)]
    if not cases:
        raise UsageError(f"there is no case in {folder}: a case is a *.json with an `evaluator`")
    failed = 0
    for case in cases:
        found = list(differences(run(case.evaluator, case.session), case.expect))
        failed += bool(found)
        sys.stdout.write(f"{'FAILED' if found else 'ok'}  {case.name}  {case.evaluator.name}\n")
        sys.stdout.writelines(f"    {difference}\n" for difference in found)
    sys.stdout.write(f"{len(cases) - failed} of {len(cases)} cases are as expected\n")
    return 1 if failed else 0


def _is_case(file: Path) -> bool:
    """Returns whether the file is more than an export that a case names."""
    document = _document(file)
    return isinstance(document, dict) and ("evaluator" in document or "expect" in document)


def _document(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from error


def read_case(file: Path, evaluators: Sequence[Evaluator]) -> Case:
    """Returns the case of a file. Raises `UsageError` that names the wrong field."""
    document = _document(file)
    wanted, expect = document.get("evaluator"), document.get("expect")
    if not isinstance(wanted, str) or not isinstance(expect, dict) or not expect:
        raise UsageError(f"{file} needs `evaluator`, a key, and `expect`, an object")
    if ("session" in document) == ("file" in document):
        raise UsageError(f"{file} needs either `session` or `file`")
    try:
        [evaluator] = chosen(evaluators, wanted)
    except ValueError:
        raise UsageError(f"{file}: say which version, as in {wanted}@1") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    if "file" in document:
        session = read_file(file.parent / str(document["file"]))
    else:
        try:
            session = session_of(document["session"])
        except BadSession as error:
            raise UsageError(f"{file}: {error}") from error
    return Case(file.stem, evaluator, session, expect)


def differences(outcome: Outcome, expect: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each difference between what is and what was expected."""
    ended = {"skip": ("skipped", outcome.reason), "error": ("error", outcome.error)}
    [word, wanted] = next(iter(expect.items()))
    if word in ended and len(expect) == 1 and isinstance(wanted, str):
        status, told = ended[word]
        is_as_expected = wanted == told if word == "skip" else wanted in (told or "")
        if outcome.status != status or not is_as_expected:
            yield f"expected {word} {wanted!r}, but it {_ended(outcome)}"
    elif outcome.status != "done":
        yield f"expected {', '.join(expect)}, but it {_ended(outcome)}"
    else:
        for key, one in expect.items():
            yield from _of_value(outcome, key, one)


def _ended(outcome: Outcome) -> str:
    told = outcome.reason or outcome.error
    values = ", ".join(f"{key} = {one.value!r}" for key, one in outcome.results.items())
    return f"ended as {outcome.status}: {told or values}"


def _of_value(outcome: Outcome, key: str, expected: Any) -> Iterator[str]:
    value = outcome.results.get(key)
    if value is None:
        yield f"{key}: there is no such value; there are {', '.join(outcome.results)}"
        return
    wanted = expected if isinstance(expected, dict) else {"value": expected}
    for unknown in sorted(wanted.keys() - _FIELDS):
        raise UsageError(
            f"`expect` of {key} has a field {unknown}; use {', '.join(sorted(_FIELDS))}"
        )
    found = {"passed": None, "unit": "", "evidence": [], "labels": [], **wire(key, value)}
    for name, one in wanted.items():
        if not _is_same(name, found.get(name), one):
            yield f"{key}: {name} is {found.get(name)!r}, expected {one!r}"


def _is_same(name: str, found: Any, expected: Any) -> bool:
    if name == "reasoning":
        return isinstance(expected, str) and expected in (found or "")
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, float) and isinstance(expected, (int, float)):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return bool(found == expected)
