"""Turns the values of an answer into results, by what the version declares.

    found = check(declared, [ResultValue(key="refund", value=True, kind="assertion")])
    scores_of(found)  # {"refund": 1.0}

A value that is outside of its kind makes the whole answer an error, so that no evaluation has a
part of its values.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from shared.evaluation.evaluation_jobs.result import cut
from shared.evaluation.evaluators.declarations import (
    KINDS,
    MAX_CATEGORY_CHARS,
    MAX_KEY_CHARS,
    MAX_UNIT_CHARS,
    ResultDeclaration,
    ResultKind,
)
from shared.evaluation.evaluators.exact import is_number
from shared.evaluation.evaluators.labels import MAX_LABEL_BYTES, MAX_LABELS
from shared.foundation.core.text import number, storable
from shared.reading.evaluations.records import EvaluatedResult

MAX_VALUES = 100
MAX_TEXT_BYTES = 8 * 1024
MAX_REASONING_BYTES = 16 * 1024
MAX_EVIDENCE = 50
MAX_FLAGS = 10

_SHOWN_CHARS = 60
# Ids of events.
_MAX_EVENT_ID = 2**53 - 1


class UnfitResultError(Exception):
    """A value does not fit its kind; the sentence names the key and ends the evaluation."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f'result "{_shown(key)}": {reason}')
        self.key = key


class ResultValue(msgspec.Struct, frozen=True, kw_only=True):
    """One value of an answer, as it came; every field but `key` may be of any type.

    `kind` is that of the answer, None if it names none.
    """

    key: str
    value: Any
    kind: Any = None
    passed: Any = None
    unit: Any = None
    reasoning: Any = None
    labels: Any = None
    evidence: Any = None
    flags: Any = None


def check(
    declared: Iterable[ResultDeclaration], values: Sequence[ResultValue]
) -> tuple[EvaluatedResult, ...]:
    """Returns the results of an answer, in its order; raises `UnfitResultError`.

    A key that is not declared has the kind that the answer names, else `number`. A value of None is
    no result.
    """
    by_key = {one.key: one for one in declared}
    found: dict[str, EvaluatedResult] = {}
    for one in values:
        if len(found) == MAX_VALUES:
            raise UnfitResultError(one.key, f"an answer can have at most {MAX_VALUES} results")
        _require_key(one.key)
        if one.key in found:
            raise UnfitResultError(one.key, "the answer has it twice")
        if one.value is not None:
            found[one.key] = _result(by_key.get(one.key), one)
    return tuple(found.values())


def of_scores(
    declared: Iterable[ResultDeclaration],
    scores: Mapping[str, Any],
    reasoning: Mapping[str, Any] | None = None,
) -> list[ResultValue]:
    """Returns the values of a map of numbers, as in `scores` of an answer.

    There a declared assertion is 1 or 0.
    """
    assertions = {one.key for one in declared if one.kind == "assertion"}
    why = reasoning or {}
    return [
        ResultValue(
            key=key, value=_truth(value) if key in assertions else value, reasoning=why.get(key)
        )
        for key, value in scores.items()
    ]


def scores_of(results: Iterable[EvaluatedResult]) -> dict[str, float]:
    """Returns the numbers of an evaluation: scores, numbers, and an assertion as 1 or 0.

    An average of an assertion is therefore its pass rate.
    """
    return {
        one.key: float(one.value)
        for one in results
        if one.kind in ("score", "number", "assertion") and not isinstance(one.value, str)
    }


def reasoning_of(results: Iterable[EvaluatedResult]) -> dict[str, str]:
    """Returns the reasons of an evaluation by key."""
    return {one.key: one.reasoning for one in results if one.reasoning}


def _result(declaration: ResultDeclaration | None, one: ResultValue) -> EvaluatedResult:
    if declaration is None:
        kind = "number" if one.kind is None else one.kind
        if kind not in KINDS:
            raise UnfitResultError(one.key, f"its kind must be one of {', '.join(KINDS)}")
        declaration = ResultDeclaration(key=one.key, kind=cast("ResultKind", kind))
    elif one.kind is not None and one.kind != declaration.kind:
        raise UnfitResultError(
            one.key, f"the version declares {declaration.kind}, and the answer names another kind"
        )
    value = _value(declaration, one.value)
    return EvaluatedResult(
        key=one.key,
        kind=declaration.kind,
        value=value,
        passed=_passed(declaration, value, one),
        unit=declaration.unit or _unit(one),
        reasoning=_reasoning(one),
        labels=_labels(one),
        evidence=_evidence(one),
        flags=_texts(one, "flags", MAX_FLAGS),
    )


def _value(declared: ResultDeclaration, value: Any) -> float | bool | str:
    """Returns the value in its kind; raises `UnfitResultError`."""
    if declared.kind == "assertion":
        if not isinstance(value, bool):
            raise _unfit(declared, value, "true or false")
        return value
    if declared.kind == "text":
        if not isinstance(value, str) or len(value.encode(errors="replace")) > MAX_TEXT_BYTES:
            raise _unfit(declared, value, f"a text of at most {MAX_TEXT_BYTES // 1024} KiB")
        return storable(value)
    if declared.kind == "category":
        return _category(declared, value)
    if not is_number(value):
        raise _unfit(declared, value, "a finite number")
    least, most = declared.least, declared.most
    if least is not None and value < least:
        raise _unfit(declared, value, f"at least {number(least)}")
    if most is not None and value > most:
        raise _unfit(declared, value, f"at most {number(most)}")
    return float(value)


def _category(declared: ResultDeclaration, value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_CATEGORY_CHARS:
        raise _unfit(declared, value, f"a text of 1 to {MAX_CATEGORY_CHARS} characters")
    options = [one.value for one in declared.options]
    if options and value not in options:
        raise _unfit(declared, value, f"one of {', '.join(options)}")
    return storable(value)


def _passed(
    declared: ResultDeclaration, value: float | bool | str, one: ResultValue
) -> bool | None:
    """Returns what the version decides, else what the answer says."""
    if one.passed is not None and not isinstance(one.passed, bool):
        raise UnfitResultError(one.key, "passed must be true, false or null")
    if isinstance(value, bool):
        return value
    if declared.pass_at is None or isinstance(value, str):
        return one.passed
    return value <= declared.pass_at if declared.lower_is_better else value >= declared.pass_at


def _unit(one: ResultValue) -> str | None:
    unit = _text(one, "unit")
    return None if not unit else storable(unit, MAX_UNIT_CHARS)


def _reasoning(one: ResultValue) -> str | None:
    text = _text(one, "reasoning")
    return None if not text else cut(storable(text), MAX_REASONING_BYTES)


def _labels(one: ResultValue) -> tuple[str, ...]:
    labels = _texts(one, "labels", MAX_LABELS)
    if not all(1 <= len(label.encode()) <= MAX_LABEL_BYTES for label in labels):
        raise UnfitResultError(one.key, f"labels must have 1 to {MAX_LABEL_BYTES} bytes")
    return labels


def _evidence(one: ResultValue) -> tuple[str, ...]:
    """Returns ids of events; some programs send them as numbers, others as texts."""
    if one.evidence is None:
        return ()
    listed = one.evidence if isinstance(one.evidence, list | tuple) else [one.evidence]
    ids = []
    for item in listed[:MAX_EVIDENCE]:
        read = int(item) if isinstance(item, str) and _is_id(item) else item
        if isinstance(read, bool) or not isinstance(read, int) or not 0 <= read <= _MAX_EVENT_ID:
            raise UnfitResultError(one.key, "evidence must be a list of ids of events")
        ids.append(str(read))
    return tuple(dict.fromkeys(ids))


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_EVENT_ID))


def _texts(one: ResultValue, name: str, most: int) -> tuple[str, ...]:
    value = getattr(one, name)
    if value is None:
        return ()
    is_list = isinstance(value, list | tuple) and len(value) <= most
    if not is_list or not all(isinstance(item, str) for item in value):
        raise UnfitResultError(one.key, f"{name} must be a list of at most {most} texts")
    return tuple(dict.fromkeys(storable(item) for item in value))


def _text(one: ResultValue, name: str) -> str | None:
    value = getattr(one, name)
    if value is not None and not isinstance(value, str):
        raise UnfitResultError(one.key, f"{name} must be a text")
    return value


def _truth(value: Any) -> Any:
    """Returns a number of an assertion as a boolean, and any other value as it is."""
    return bool(value) if is_number(value) and value in (0, 1) else value


def _require_key(key: Any) -> None:
    if not isinstance(key, str):
        raise UnfitResultError(str(key), "a key must be a text")
    if not 1 <= len(key) <= MAX_KEY_CHARS or not key.isprintable():
        raise UnfitResultError(key, f"a key has 1 to {MAX_KEY_CHARS} printable characters")


def _unfit(declared: ResultDeclaration, value: Any, wanted: str) -> UnfitResultError:
    return UnfitResultError(
        declared.key, f"{_shown(value)} is no {declared.kind}: it must be {wanted}"
    )


def _shown(value: Any) -> str:
    """Returns the start of a value for a sentence."""
    if isinstance(value, dict | list | tuple):
        return "an object" if isinstance(value, dict) else "a list"
    try:
        text = str(value)
    except ValueError:  # an integer of thousands of digits
        text = "a huge number"
    start = storable(text, _SHOWN_CHARS)
    return start if len(text) <= _SHOWN_CHARS else f"{start}…"
