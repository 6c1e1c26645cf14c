"""A condition as a sentence for people, such as `environment is production and it has errors`."""

import json
import re
from collections.abc import Sequence

from shared.evaluation.evaluators.conditions.fields import (
    FIELDS,
    FLAG,
    NUMBER,
    ONE_OF,
    PREFIX,
    ConditionField,
)
from shared.evaluation.evaluators.conditions.nodes import AllOf, AnyOf, Condition, Leaf, Negation
from shared.foundation.core.text import number

EVERY = "all sessions"
_MAX_NAMED = 5
_MAX_CHARS = 60
_PLAIN = re.compile(r"[\w.:/@-]+")
_THAN = {
    ">": "more than",
    ">=": "at least",
    "<": "fewer than",
    "<=": "at most",
    "==": "exactly",
}
# Comparisons that say whether a session has any at all.
_SOME, _NONE = {(">", 0.0), (">=", 1.0)}, {("==", 0.0), ("<", 1.0), ("<=", 0.0)}


def in_words(condition: Condition | None) -> str:
    """Returns the sentence without a full stop; None is for all sessions."""
    match condition:
        case None:
            return EVERY
        case Leaf():
            return _leaf(condition)
        case Negation(part):
            return f"not ({in_words(part)})"
        case AllOf(parts):
            return _joined(parts, "and")
        case AnyOf(parts):
            return _joined(parts, "or")


def _joined(parts: Sequence[Condition], word: str) -> str:
    return f" {word} ".join(_bracketed(part) for part in parts)


def _bracketed(part: Condition) -> str:
    is_joined = isinstance(part, AllOf | AnyOf) and len(part.parts) > 1
    return f"({in_words(part)})" if is_joined else in_words(part)


def _leaf(leaf: Leaf) -> str:
    field = FIELDS[leaf.field]
    if isinstance(leaf.value, tuple):
        return _texts(field, leaf.op, leaf.value)
    if field.kind is NUMBER:
        return _number(field, leaf.op, float(leaf.value))
    if field.kind is FLAG:
        return f"it has {'' if leaf.value else 'not '}{field.noun}"
    if field.kind is PREFIX:
        return f"{field.noun} begins with {_quoted(str(leaf.value))}"
    return f"a {field.noun} contains {_quoted(str(leaf.value))}"


def _texts(field: ConditionField, op: str, texts: Sequence[str]) -> str:
    is_one = len(texts) == 1
    if field.kind is ONE_OF:
        if op == "in":
            return f"{field.noun} is {_listed(texts, 'or')}"
        return f"{field.noun} is {'not' if is_one else 'none of'} {_listed(texts, 'and')}"
    if op == "all_of":
        nouns, occur = (field.noun, "occurs") if is_one else (f"{field.noun}s", "occur")
        return f"the {nouns} {_listed(texts, 'and')} {occur}"
    if op == "any_of" or is_one:
        occurs = "occurs" if op == "any_of" else "does not occur"
        return f"the {field.noun} {_listed(texts, 'or')} {occurs}"
    return f"none of the {field.noun}s {_listed(texts, 'and')} occurs"


def _number(field: ConditionField, op: str, bound: float) -> str:
    if field.verb == "has" and (op, bound) in _SOME:
        return f"it has {field.noun}"
    if field.verb == "has" and (op, bound) in _NONE:
        return f"it has no {field.noun}"
    noun = field.noun.removesuffix("s") if bound == 1 else field.noun
    return f"it {field.verb} {_THAN[op]} {number(bound)} {noun}"


def _listed(texts: Sequence[str], word: str) -> str:
    named = [one if _PLAIN.fullmatch(one) else _quoted(one) for one in map(_short, texts)]
    if len(named) > _MAX_NAMED:
        named = [*named[: _MAX_NAMED - 1], f"{len(named) - _MAX_NAMED + 1} others"]
    *others, last = named
    return f"{', '.join(others)} {word} {last}" if others else last


def _quoted(text: str) -> str:
    return json.dumps(_short(text), ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"
