"""The spec of a version: what an evaluator of a kind does."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from shared.access.settings.rules import masked_url
from shared.evaluation.evaluators.addresses import allowed_addresses, origin_of, require_url
from shared.evaluation.evaluators.declarations import ResultDeclaration
from shared.evaluation.evaluators.exact import known_fields, number, required_text, text_or_none
from shared.evaluation.evaluators.headers import require_header_names, require_header_value
from shared.foundation.core import bounds
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Invalid

EvaluatorKind = Literal["push", "pull", "sql", "judge"]
KINDS: tuple[str, ...] = get_args(EvaluatorKind)
# The permission to configure a kind, by the data that it gets to see.
PERMISSION_OF: Mapping[str, str] = {
    "push": "events:read",
    "pull": "events:read",
    "sql": "queries:run",
    "judge": "events:read",
}

MAX_SQL_CHARS = 60_000
MAX_MODEL_CHARS = 200
MAX_CRITERIA_BYTES = 8 * 1024
# Least, most, and the default.
INPUT_TOKENS = (500, 1_000_000, 24_000)
OUTPUT_TOKENS = (16, 100_000, 1024)
# The parts of a session that a judge can see, and the defaults.
SHOWN_PARTS: Mapping[str, bool] = {"tools": True, "system": False, "reasoning": False}
_MAX_PRICE = 1_000_000

Spec = dict[str, Any]


def parse_spec(kind: str, value: object, settings: Settings, path: str = "spec") -> Spec:
    """Returns the spec of an evaluator of a kind, with its defaults and without unknown fields.

    Raises `Invalid` naming the field.
    """
    return _PARSERS[kind](path, {} if value is None and kind == "pull" else value, settings)


def require_results(
    kind: str, declared: tuple[ResultDeclaration, ...], path: str = "results"
) -> None:
    """Checks how many results a kind declares; raises `Invalid` naming the field."""
    if kind == "sql" and not declared:
        raise Invalid.field(path, "an evaluator of the kind sql declares its results")
    if kind == "judge" and len(declared) != 1:
        raise Invalid.field(path, "a judge declares exactly one result")


def origin(kind: str, spec: Spec) -> str | None:
    """Returns the origin that transcripts go to, None where the spec names none."""
    url = spec.get("url" if kind == "push" else "base_url")
    return None if url is None else origin_of(url)


def shown(spec: Spec, *, in_full: bool) -> Spec:
    """Returns a spec for readers: only in full are paths of URLs and values of headers there."""
    if in_full:
        return spec
    return {name: _masked(name, value) for name, value in spec.items()}


def check_sql(path: str, sql: str) -> str:
    """Returns the statement of an evaluator; raises `Invalid` naming the field."""
    if not sql.strip():
        raise Invalid.field(path, "must not be empty")
    return bounds.require_text(path, sql, most=MAX_SQL_CHARS)


def _masked(name: str, value: Any) -> Any:
    if name in ("url", "base_url") and value is not None:
        return masked_url(value)
    return dict.fromkeys(value) if name == "headers" else value


def _push(path: str, value: object, settings: Settings) -> Spec:
    given = known_fields(path, value, ("url", "headers"))
    allowed = allowed_addresses(settings.evaluator_allow_private)
    headers = given.get("headers", {})
    if not isinstance(headers, dict):
        raise Invalid.field(f"{path}.headers", "must be an object")
    require_header_names(f"{path}.headers", headers)
    return {
        "url": require_url(f"{path}.url", given.get("url"), allowed),
        "headers": {
            name: require_header_value(f"{path}.headers.{name}", one)
            for name, one in headers.items()
        },
    }


def _pull(path: str, value: object, _settings: Settings) -> Spec:
    known_fields(path, value, ())
    return {}


def _sql(path: str, value: object, _settings: Settings) -> Spec:
    given = known_fields(path, value, ("sql",))
    return {"sql": check_sql(f"{path}.sql", required_text(path, given, "sql"))}


_JUDGE = (
    *("base_url", "model", "criteria", "instructions", "max_input_tokens"),
    *("max_output_tokens", "show", "usd_per_mtok"),
)


def _judge(path: str, value: object, settings: Settings) -> Spec:
    given = known_fields(path, value, _JUDGE)
    base_url = given.get("base_url")
    if base_url is not None:
        allowed = allowed_addresses(settings.evaluator_allow_private)
        base_url = require_url(f"{path}.base_url", base_url, allowed)
    return {
        "base_url": base_url,
        "model": _model(path, given, base_url, settings),
        "criteria": _long_text(f"{path}.criteria", required_text(path, given, "criteria")),
        "instructions": _instructions(path, given),
        "max_input_tokens": _tokens(path, given, "max_input_tokens", INPUT_TOKENS),
        "max_output_tokens": _tokens(path, given, "max_output_tokens", OUTPUT_TOKENS),
        "show": _show(f"{path}.show", given.get("show")),
        "usd_per_mtok": _prices(f"{path}.usd_per_mtok", given.get("usd_per_mtok")),
    }


def _model(path: str, given: Spec, base_url: str | None, settings: Settings) -> str:
    named = required_text(path, given, "model")
    model = bounds.require_name(f"{path}.model", named, most=MAX_MODEL_CHARS)
    choices = settings.judge_choices
    if base_url is None and not choices:
        raise Invalid.field(
            f"{path}.base_url",
            "is missing: this deployment has no judge of its own (JUDGE_BASE_URL)",
        )
    if base_url is None and model not in choices:
        raise Invalid.field(f"{path}.model", f"must be one of {', '.join(choices)}")
    return model


def _instructions(path: str, given: Spec) -> str | None:
    text = text_or_none(path, given, "instructions")
    return _long_text(f"{path}.instructions", text) if text and text.strip() else None


def _long_text(path: str, text: str) -> str:
    bounds.require_text(path, text, most=MAX_CRITERIA_BYTES)
    if not text.strip():
        raise Invalid.field(path, "must not be empty")
    if len(text.encode()) > MAX_CRITERIA_BYTES:
        raise Invalid.field(path, f"must have at most {MAX_CRITERIA_BYTES // 1024} KiB")
    return text


def _tokens(path: str, given: Spec, name: str, bound: tuple[int, int, int]) -> int:
    least, most, default = bound
    count = number(f"{path}.{name}", given.get(name, default))
    if not isinstance(count, int):
        raise Invalid.field(f"{path}.{name}", "must be a whole number")
    return bounds.require_between(f"{path}.{name}", count, least=least, most=most)


def _show(path: str, value: object) -> dict[str, bool]:
    given = known_fields(path, {} if value is None else value, SHOWN_PARTS)
    for name, one in given.items():
        if not isinstance(one, bool):
            raise Invalid.field(f"{path}.{name}", "must be true or false")
    return {**SHOWN_PARTS, **given}


def _prices(path: str, value: object) -> dict[str, Any] | None:
    if value is None:
        return None
    given = known_fields(path, value, ("input", "output"))
    prices = {name: number(f"{path}.{name}", given.get(name)) for name in ("input", "output")}
    for name, price in prices.items():
        if not 0 <= price <= _MAX_PRICE:
            raise Invalid.field(f"{path}.{name}", f"must be from 0 to {_MAX_PRICE}")
    return prices


_PARSERS: Mapping[str, Callable[[str, object, Settings], Spec]] = {
    "push": _push,
    "pull": _pull,
    "sql": _sql,
    "judge": _judge,
}
