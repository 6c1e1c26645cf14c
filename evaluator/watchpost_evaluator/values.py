"""The values that an evaluator returns: five kinds, several of them, or the reason for none.

A value is checked where it is made, so that the traceback shows the line with the mistake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

KEY = re.compile(r"[a-z][a-z0-9_]{0,127}")
KINDS = ("score", "number", "assertion", "category", "text")
MOST_RESULTS, MOST_LABELS, MOST_EVIDENCE = 25, 20, 100
_LABEL_BYTES, _UNIT_BYTES, _CATEGORY_CHARACTERS = 64, 64, 64
_REASONING_BYTES, _TEXT_BYTES, _SUMMARY_BYTES = 16 * 1024, 8 * 1024, 8 * 1024

# JSON may write these, but PostgreSQL stores no NUL, and terminals obey the others.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Value:
    """A value of any kind. `evidence`: events, calls, turns or ids of events that show it."""

    kind: ClassVar[str]

    value: Any
    reasoning: str | None = None
    evidence: Any = ()
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        _change(self, "value", self._checked())
        if self.reasoning is not None:
            reasoning = cut(clean(_text("reasoning", self.reasoning)), _REASONING_BYTES)
            _change(self, "reasoning", reasoning)
        _change(self, "evidence", tuple(_event_ids(self.evidence))[:MOST_EVIDENCE])
        _change(self, "labels", _labels(self.labels))

    def _checked(self) -> Any:
        raise NotImplementedError

    @property
    def passed(self) -> bool | None:
        """Whether the value is good enough, None if the evaluator does not say."""
        return None


@dataclass(frozen=True)
class Score(Value):
    """A number from 0 to 1."""

    kind: ClassVar[str] = "score"

    value: float
    passed: bool | None = None

    def _checked(self) -> float:
        value = _finite(self)
        if not 0 <= value <= 1:
            raise ValueError(f"a score is between 0 and 1, not {value:g}; use Number for others")
        _check_passed(self.passed)
        return value


@dataclass(frozen=True)
class Number(Value):
    """Any finite number, such as seconds or tokens."""

    kind: ClassVar[str] = "number"

    value: float
    unit: str = ""
    passed: bool | None = None

    def _checked(self) -> float:
        if len(_text("unit", self.unit).encode()) > _UNIT_BYTES:
            raise ValueError(f"the unit {self.unit!r} is longer than {_UNIT_BYTES} bytes")
        _check_passed(self.passed)
        return _finite(self)


@dataclass(frozen=True)
class Assertion(Value):
    """True if the session is as it should be."""

    kind: ClassVar[str] = "assertion"

    value: bool

    def _checked(self) -> bool:
        if not isinstance(self.value, bool):
            raise TypeError(f"an assertion is True or False, not {self.value!r}; use bool(…)")
        return self.value

    @property
    def passed(self) -> bool | None:
        """The value itself."""
        return self.value


@dataclass(frozen=True)
class Category(Value):
    """One of a few names."""

    kind: ClassVar[str] = "category"

    value: str

    def _checked(self) -> str:
        value = clean(_text("a category", self.value)).strip()
        if not 1 <= len(value) <= _CATEGORY_CHARACTERS:
            raise ValueError(f"a category has 1 to {_CATEGORY_CHARACTERS} characters: {value!r}")
        return value


@dataclass(frozen=True)
class Text(Value):
    """A text of at most 8 KiB; a longer one is cut."""

    kind: ClassVar[str] = "text"

    value: str

    def _checked(self) -> str:
        return cut(clean(_text("a text", self.value)), _TEXT_BYTES)


@dataclass(frozen=True)
class Results:
    """Several values by their keys, or one, and a summary of the session."""

    values: Mapping[str, Value] | Value
    summary: str | None = None

    def __post_init__(self) -> None:
        if self.summary is not None:
            summary = cut(clean(_text("summary", self.summary)), _SUMMARY_BYTES)
            _change(self, "summary", summary)


@dataclass(frozen=True)
class Skip:
    """The evaluator does not apply to this session. `reason`: a short name, as `no_refund`."""

    reason: str

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not KEY.fullmatch(self.reason):
            raise ValueError(
                f"the reason of Skip is a short name such as no_refund, not {self.reason!r}:"
                " small letters, digits and underscores"
            )


def values_of(key: str, kind: str, returned: object) -> tuple[dict[str, Value], str | None]:
    """Returns the values by key and the summary of what the evaluator `key` returned.

    Raises `TypeError` or `ValueError` that names the key of a wrong one.
    """
    given: Any = returned.values if isinstance(returned, Results) else returned
    summary = returned.summary if isinstance(returned, Results) else None
    values: Mapping[Any, Any] = given if isinstance(given, Mapping) else {key: given}
    if not values or len(values) > MOST_RESULTS:
        raise ValueError(f"it returned {len(values)} values; 1 to {MOST_RESULTS} are allowed")
    for name, value in values.items():
        if not isinstance(name, str) or not KEY.fullmatch(name):
            raise ValueError(f"{name!r} is no key: small letters, digits and underscores")
        if not isinstance(value, Value):
            made = "Score(…), Number(…), Assertion(…), Category(…), Text(…) or Skip(…)"
            raise TypeError(f"{name} is {_shown(value)}; return {made}")
    own = values.get(key)
    if own is not None and own.kind != kind:
        raise TypeError(f'{key} is of the kind {own.kind}, but @evaluator declares result="{kind}"')
    return dict(values), summary


def clean(text: str) -> str:
    """Replaces control characters other than tabs and line breaks, and halves of characters."""
    return _CONTROL.sub("\ufffd", text)


def cut(text: str, most_bytes: int) -> str:
    """Returns the text, or as much of its beginning as fits, between two characters."""
    packed = text.encode()
    if len(packed) <= most_bytes:
        return text
    return packed[: most_bytes - 3].decode(errors="ignore") + "…"


def _change(value: object, name: str, to: object) -> None:
    object.__setattr__(value, name, to)  # the class is frozen for everybody else


def _finite(value: Value) -> float:
    given = value.value
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError(f"a {value.kind} is a number, not {_shown(given)}")
    if not math.isfinite(given):
        raise ValueError(f"a {value.kind} is finite, not {given!r}")
    return float(given)


def _check_passed(passed: object) -> None:
    if passed is not None and not isinstance(passed, bool):
        raise TypeError(f"passed is True, False or None, not {_shown(passed)}")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    return f"{value!r:.60}" if value is None else f"{value!r:.60} ({type(value).__name__})"


def _labels(labels: Iterable[str]) -> tuple[str, ...]:
    if isinstance(labels, str):
        raise TypeError(f'labels is a list of texts: ["{labels}"]')
    unique = tuple(dict.fromkeys(clean(_text("a label", label)) for label in labels))
    if len(unique) > MOST_LABELS:
        raise ValueError(f"{len(unique)} labels; at most {MOST_LABELS} are allowed")
    for label in unique:
        if not 1 <= len(label.encode()) <= _LABEL_BYTES:
            raise ValueError(f"the label {label!r} must have 1 to {_LABEL_BYTES} bytes")
    return unique


def _event_ids(evidence: Any) -> Iterator[int | str]:
    """Yields the ids of events, calls and turns, each once."""
    if isinstance(evidence, (str, int)) or not isinstance(evidence, Iterable):
        evidence = (evidence,)
    seen = dict.fromkeys(event_id for one in evidence for event_id in _ids_of(one))
    yield from seen


def _ids_of(one: Any) -> Iterable[int | str]:
    if isinstance(one, (str, int)) and not isinstance(one, bool):
        return (one,)
    if hasattr(one, "event_ids"):
        return tuple(one.event_ids)
    if hasattr(one, "events"):
        return tuple(event.id for event in one.events)
    if hasattr(one, "id"):
        return (one.id,)
    raise TypeError(f"evidence has events, calls, turns or ids of events, not {_shown(one)}")
