"""The fields of an evaluator that people write: their defaults, their bounds, and their checks."""

import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from shared.evaluation.evaluators.exact import is_number, known_fields, number
from shared.evaluation.evaluators.labels import MAX_LABEL_BYTES, MAX_LABELS, require_labels
from shared.evaluation.evaluators.specs import KINDS
from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid
from shared.foundation.core.ids import parse_uuid

KEY_PATTERN = "[a-z][a-z0-9_]{0,127}"
RESCORE = ("never", "each_end", "each_idle")
BUDGET = ("evaluations", "tokens", "usd")

MAX_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 2000
MAX_SEED_CHARS = 64
_MAX_AMOUNT = 2**53

Check = Callable[[str, object], Any]


class WritableField(NamedTuple):
    """A field: its check, its default, and how the document describes it.

    `check` returns the value to store and raises `Invalid` naming the field. A default of None is
    null, but the name and the seed are by default the key.
    """

    check: Check
    default: Any
    about: str
    schema: Mapping[str, Any]

    @property
    def may_be_null(self) -> bool:
        """Whether null is a value."""
        return "null" in self.schema["type"]


def require_key(value: object) -> str:
    """Returns the key of an evaluator; raises `Invalid` naming the field."""
    if not isinstance(value, str) or not re.fullmatch(KEY_PATTERN, value):
        raise Invalid.field("key", "must have 1 to 128 of a-z, 0-9 and _, and begin with a letter")
    return value


def require_kind(value: object) -> str:
    """Returns the kind of an evaluator; raises `Invalid` naming the field."""
    if not isinstance(value, str):
        raise Invalid.field("kind", f"must be one of {', '.join(KINDS)}")
    return bounds.require_one_of("kind", value, KINDS)


def checked(given: Mapping[str, object]) -> dict[str, Any]:
    """Returns the values of those writable fields that are given; raises `Invalid` naming one."""
    return {name: WRITABLE[name].check(name, given[name]) for name in WRITABLE if name in given}


def defaults(key: str) -> dict[str, Any]:
    """Returns the value of each writable field that is not given."""
    return {name: one.default for name, one in WRITABLE.items()} | {
        "name": key,
        "sample_seed": key,
    }


def _name(field: str, value: object) -> str:
    return bounds.require_name(field, _text(field, value), most=MAX_NAME_CHARS)


def _description(field: str, value: object) -> str:
    return bounds.require_text(field, _text(field, value), most=MAX_DESCRIPTION_CHARS)


def _seed(field: str, value: object) -> str:
    return bounds.require_name(field, _text(field, value), most=MAX_SEED_CHARS)


def _enabled(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise Invalid.field(field, "must be true or false")
    return value


def _sample(field: str, value: object) -> Decimal:
    share = number(field, value)
    exact = Decimal(str(share))
    if not 0 <= share <= 100 or exact != round(exact, 2):
        raise Invalid.field(field, "must be from 0 to 100, with at most two decimals")
    return exact


def _whole(least: int, most: int) -> Check:
    def check(field: str, value: object) -> int:
        count = number(field, value)
        if not isinstance(count, int):
            raise Invalid.field(field, "must be a whole number")
        return bounds.require_between(field, count, least=least, most=most)

    return check


def _or_null(check: Check) -> Check:
    return lambda field, value: None if value is None else check(field, value)


def _rescore(field: str, value: object) -> str:
    return bounds.require_one_of(field, _text(field, value), RESCORE)


def _budget(field: str, value: object) -> dict[str, Any] | None:
    given = known_fields(field, value, BUDGET)
    for name, amount in given.items():
        is_counted = name != "usd"
        if not is_number(amount) or not 0 < amount <= _MAX_AMOUNT:
            raise Invalid.field(f"{field}.{name}", "must be above 0, or null for no bound")
        if is_counted and int(amount) != amount:
            raise Invalid.field(f"{field}.{name}", "must be a whole number")
        given[name] = int(amount) if is_counted else amount
    return {name: given.get(name) for name in BUDGET} if given else None


def _pool(field: str, value: object) -> uuid.UUID:
    found = parse_uuid(_text(field, value))
    if found is None:
        raise Invalid.field(field, "must be the id of a pool")
    return found


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise Invalid.field(field, "must be a text")
    return value


def _number(
    kind: str | list[str], least: float, most: float, default: Any, about: str, check: Check
) -> WritableField:
    schema = {"type": kind, "minimum": least, "maximum": most, "default": default}
    return WritableField(check, default, about, schema)


def _count(least: int, most: int, default: int, about: str) -> WritableField:
    return _number("integer", least, most, default, about, _whole(least, most))


_NULL = "null"
WRITABLE: Mapping[str, WritableField] = {
    "name": WritableField(
        _name,
        None,
        "by default the key",
        {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS},
    ),
    "description": WritableField(
        _description,
        "",
        "by default empty",
        {
            "type": "string",
            "maxLength": MAX_DESCRIPTION_CHARS,
            "example": "An example of a description",
        },
    ),
    "labels": WritableField(
        require_labels,
        [],
        f"texts of at most {MAX_LABEL_BYTES} bytes; by default none",
        {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_LABEL_BYTES},
            "maxItems": MAX_LABELS,
        },
    ),
    "enabled": WritableField(
        _enabled,
        True,
        "false: nothing starts, queued runs wait, and calls under way end",
        {"type": "boolean", "default": True},
    ),
    "sample": _number(
        "number", 0, 100, 100, "percentage of the sessions, with at most two decimals", _sample
    ),
    "sample_seed": WritableField(
        _seed,
        None,
        "evaluators with one seed take the same sessions; by default the key",
        {"type": "string", "minLength": 1, "maxLength": MAX_SEED_CHARS},
    ),
    "priority": _count(0, 9, 5, "runs of a higher one are called first"),
    "concurrency": _count(1, 32, 4, "calls at once in the whole deployment"),
    "timeout_ms": _count(1000, 600_000, 30_000, "time limit of a call"),
    "max_attempts": _count(1, 10, 5, "attempts before a run ends as error"),
    "poll_max_secs": _count(10, 86_400, 3600, "time limit of an answer that is polled"),
    "idle_secs": _number(
        ["integer", _NULL],
        10,
        86_400,
        None,
        "a session is over, too, after so long without events; null: only at the end of its root"
        " agent",
        _or_null(_whole(10, 86_400)),
    ),
    "rescore": WritableField(
        _rescore,
        "never",
        "when a session that has a result is evaluated again",
        {"type": "string", "enum": list(RESCORE), "default": "never"},
    ),
    "rescore_max": _count(1, 1000, 20, "most automatic runs of a session"),
    "budget": WritableField(
        _or_null(_budget),
        None,
        "most of a calendar month in UTC; null: no bound",
        {
            "type": ["object", _NULL],
            "properties": {
                "evaluations": {"type": ["integer", _NULL], "minimum": 1},
                "tokens": {"type": ["integer", _NULL], "minimum": 1},
                "usd": {"type": ["number", _NULL], "exclusiveMinimum": 0},
            },
        },
    ),
    "pool": WritableField(
        _or_null(_pool),
        None,
        "the id of a pool, for the kind pull, which needs one",
        {"type": ["string", _NULL], "format": "uuid", "x-refers-to": "/v1/evaluator-pools"},
    ),
}
