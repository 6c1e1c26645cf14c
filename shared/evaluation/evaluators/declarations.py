"""The results that a version declares: their keys, kinds and bounds."""

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

import msgspec

from shared.evaluation.evaluators.exact import (
    items,
    known_fields,
    optional_number,
    required_text,
    text_or_none,
)
from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid

ResultKind = Literal["score", "number", "assertion", "category", "text"]
KINDS: tuple[str, ...] = get_args(ResultKind)

MAX_RESULTS = 25
MAX_KEY_CHARS = 128
MAX_TITLE_CHARS = 128
MAX_UNIT_CHARS = 32
MAX_CATEGORY_CHARS = 64
MAX_MEANING_CHARS = 1000
LEAST_OPTIONS, MOST_OPTIONS = 2, 20

_MEASURED = ("score", "number")
# The kinds that a field is for.
_ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "min": _MEASURED,
    "max": _MEASURED,
    "pass_at": _MEASURED,
    "lower_is_better": _MEASURED,
    "options": ("category",),
}
_FIELDS = ("key", "kind", "title", "unit", *_ONLY_FOR)


class CategoryOption(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value of a category, and what it means."""

    value: str
    meaning: str | None = None


class ResultDeclaration(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A result that each evaluation of the version may have.

    `min` and `max` bound a score or a number; without them a score is from 0 to 1. A score or a
    number passes from `pass_at` on, or up to it if `lower_is_better`. `options` are all values of a
    category; without them it has any.
    """

    key: str
    kind: ResultKind
    title: str | None = None
    unit: str | None = None
    min: int | float | None = None
    max: int | float | None = None
    pass_at: int | float | None = None
    lower_is_better: bool = False
    options: tuple[CategoryOption, ...] = ()

    @property
    def least(self) -> float | None:
        """The smallest value, None without a bound."""
        return 0 if self.kind == "score" and self.min is None else self.min

    @property
    def most(self) -> float | None:
        """The largest value, None without a bound."""
        return 1 if self.kind == "score" and self.max is None else self.max

    def json(self) -> dict[str, Any]:
        """Returns the declaration as it is stored: only the fields that it has."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain


def parse(value: object, field: str = "results") -> tuple[ResultDeclaration, ...]:
    """Returns the declarations of decoded JSON; raises `Invalid` naming the field of one."""
    listed = items(field, value, most=MAX_RESULTS)
    parsed = tuple(_declaration(f"{field}.{at}", one) for at, one in enumerate(listed))
    seen: set[str] = set()
    for at, one in enumerate(parsed):
        if one.key in seen:
            raise Invalid.field(f"{field}.{at}.key", "is declared twice")
        seen.add(one.key)
    return parsed


def stored(results: list[dict[str, Any]]) -> tuple[ResultDeclaration, ...]:
    """Returns the declarations of a stored version."""
    return msgspec.convert(results, tuple[ResultDeclaration, ...])


def _declaration(path: str, value: object) -> ResultDeclaration:
    given = known_fields(path, value, _FIELDS)
    kind = bounds.require_one_of(f"{path}.kind", required_text(path, given, "kind"), KINDS)
    for name, kinds in _ONLY_FOR.items():
        if given.get(name) is not None and given[name] is not False and kind not in kinds:
            raise Invalid.field(f"{path}.{name}", f"only {' or '.join(kinds)} has it")
    lower = given.get("lower_is_better")
    if lower is not None and not isinstance(lower, bool):
        raise Invalid.field(f"{path}.lower_is_better", "must be true or false")
    made = ResultDeclaration(
        key=bounds.require_name(
            f"{path}.key", required_text(path, given, "key"), most=MAX_KEY_CHARS
        ),
        kind=cast("ResultKind", kind),
        title=_line(path, given, "title", MAX_TITLE_CHARS),
        unit=_line(path, given, "unit", MAX_UNIT_CHARS),
        min=optional_number(path, given, "min"),
        max=optional_number(path, given, "max"),
        pass_at=optional_number(path, given, "pass_at"),
        lower_is_better=bool(lower),
        options=_options(f"{path}.options", given.get("options")),
    )
    _require_order(path, made)
    return made


def _line(path: str, given: Mapping[str, Any], name: str, most: int) -> str | None:
    text = text_or_none(path, given, name)
    return None if text is None else bounds.require_line(f"{path}.{name}", text, most=most) or None


def _require_order(path: str, made: ResultDeclaration) -> None:
    if made.least is not None and made.most is not None and made.least >= made.most:
        raise Invalid.field(f"{path}.max", f"must be above {made.least}")
    if made.kind == "score" and not ((made.least or 0) >= 0 and (made.most or 1) <= 1):
        raise Invalid.field(f"{path}.min", "a score is from 0 to 1")
    if made.pass_at is None:
        return
    if (made.least is not None and made.pass_at < made.least) or (
        made.most is not None and made.pass_at > made.most
    ):
        raise Invalid.field(f"{path}.pass_at", "must be a value that the result can have")


def _options(path: str, value: object) -> tuple[CategoryOption, ...]:
    if value is None:
        return ()
    listed = items(path, value, most=MOST_OPTIONS, least=LEAST_OPTIONS)
    made: dict[str, CategoryOption] = {}
    for at, one in enumerate(listed):
        below = f"{path}.{at}"
        given = known_fields(below, one, ("value", "meaning"))
        text = required_text(below, given, "value")
        name = bounds.require_name(f"{below}.value", text, most=MAX_CATEGORY_CHARS)
        if name in made:
            raise Invalid.field(f"{below}.value", "is an option already")
        meaning = text_or_none(below, given, "meaning")
        if meaning is not None:
            bounds.require_text(f"{below}.meaning", meaning, most=MAX_MEANING_CHARS)
        made[name] = CategoryOption(name, meaning)
    return tuple(made.values())
