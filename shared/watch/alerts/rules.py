"""The rules for an alert's content. Pure decisions."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec

from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid
from shared.foundation.core.json_words import MISSING, in_json_words
from shared.foundation.core.time_zones import require_zone
from shared.foundation.postgres.room import Room
from shared.reading.dimensions.names import is_key
from shared.reading.queries.guard.statement import guard
from shared.watch.alerts import groups
from shared.watch.alerts.specs import (
    SPECS,
    AtLeast,
    Budget,
    CustomSql,
    EvalCompound,
    EventFilter,
    MetricThreshold,
    PerEvent,
    ScoreCondition,
    Spec,
)
from shared.watch.incidents.channels import check_channels

MAX_NAME_LENGTH = 200
MAX_DESCRIPTION_LENGTH = 10_000
SEVERITIES = ("info", "warning", "critical")
MIN_INTERVAL_SECS, MAX_INTERVAL_SECS, DEFAULT_INTERVAL_SECS = 30, 86_400, 300
MAX_EVAL_WINDOW = 100
# All alerts of an organization are listed without pages.
ROOM = Room(rows=2000, total_bytes=16 * 1024 * 1024)


@dataclass(frozen=True)
class AlertContent:
    """The part of a rule that people decide."""

    name: str
    description: str | None
    enabled: bool
    trigger_kind: str
    trigger_spec: Mapping[str, Any]
    severity: str
    min_breaches: int
    eval_window: int
    eval_interval_secs: int
    channels: list[Any]


def checked(wanted: AlertContent, *, schema: str) -> tuple[dict[str, Any], int]:
    """Returns the columns and their total size in bytes; raises `Invalid` naming the field.

    `schema` is the database of the published tables, which a statement may name.
    """
    name = bounds.require_name("name", wanted.name, most=MAX_NAME_LENGTH)
    description = bounds.require_optional_text(
        "description", wanted.description, most=MAX_DESCRIPTION_LENGTH
    )
    bounds.require_one_of("severity", wanted.severity, SEVERITIES)
    require_schedule(wanted.min_breaches, wanted.eval_window, wanted.eval_interval_secs)
    spec = checked_spec(wanted.trigger_kind, wanted.trigger_spec, schema=schema)
    channels = check_channels(wanted.channels)
    normalized = {"name": name, "description": description, "trigger_spec": spec}
    columns = {**vars(wanted), **normalized, "channels": channels}
    texts = f"{name}{description or ''}{json.dumps(spec)}{json.dumps(channels)}"
    return columns, len(texts.encode())


def require_schedule(min_breaches: int, eval_window: int, eval_interval_secs: int) -> None:
    """Raises `Invalid` naming the field that is out of bounds."""
    bounds.require_between("eval_window", eval_window, least=1, most=MAX_EVAL_WINDOW)
    bounds.require_between(
        "eval_interval_secs", eval_interval_secs, least=MIN_INTERVAL_SECS, most=MAX_INTERVAL_SECS
    )
    if not 1 <= min_breaches <= eval_window:
        raise Invalid.field("min_breaches", "must be from 1 to eval_window")


def checked_spec(kind: str, given: Mapping[str, Any], *, schema: str) -> dict[str, Any]:
    """Returns the spec to store: as it was sent, without unknown fields and nulls.

    Raises `Invalid` naming `trigger_kind`, or the field of `trigger_spec`.
    """
    bounds.require_one_of("trigger_kind", kind, SPECS)
    kept = _known(given, SPECS[kind])
    try:
        spec = msgspec.convert(kept, SPECS[kind])
    except msgspec.ValidationError as error:
        raise _named(error) from None
    _require_meaning(spec, schema)
    return kept


def _known(given: Mapping[str, Any], struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns the fields of `struct` that were sent, and does the same for nested ones."""
    names = {field.name for field in msgspec.structs.fields(struct)}
    kept = {name: one for name, one in given.items() if name in names and one is not None}
    if struct in (MetricThreshold, Budget) and isinstance(kept.get("filter"), dict):
        kept["filter"] = _known(kept["filter"], EventFilter)
    if struct is EvalCompound and isinstance(kept.get("conditions"), list):
        kept["conditions"] = [
            _known(one, ScoreCondition) if isinstance(one, dict) else one
            for one in kept["conditions"]
        ]
    return kept


def _require_meaning(spec: Spec, schema: str) -> None:
    """Checks what types alone do not express."""
    if isinstance(spec, CustomSql):
        _require_statement(spec, schema)
    elif isinstance(spec, EvalCompound):
        for index, condition in enumerate(spec.conditions):
            _require_finite(f"trigger_spec.conditions.{index}.value", condition.value)
        wanted = spec.combinator
        if isinstance(wanted, AtLeast) and wanted.at_least > len(spec.conditions):
            raise Invalid.field(
                "trigger_spec.combinator.at_least", "must be at most the number of conditions"
            )
    elif not isinstance(spec, PerEvent):
        _require_finite("trigger_spec.value", getattr(spec, "value", 0.0))
    if isinstance(spec, Budget):
        _require_budget(spec)
    if isinstance(spec, MetricThreshold | Budget):
        _require_keys(spec.filter)
        if spec.group_by is not None and not groups.is_field(spec.group_by):
            fields = ", ".join(groups.FIELDS)
            raise Invalid.field("trigger_spec.group_by", f"must be {fields} or attr.<key>")


def _require_budget(spec: Budget) -> None:
    _require_finite("trigger_spec.amount_usd", spec.amount_usd)
    if spec.amount_usd <= 0:
        raise Invalid.field("trigger_spec.amount_usd", "must be greater than 0")
    require_zone("trigger_spec.tz", spec.tz)
    if any(one >= after for one, after in pairwise(spec.levels)):
        raise Invalid.field("trigger_spec.levels", "must rise")


def _require_keys(wanted: EventFilter) -> None:
    for key in wanted.attributes or {}:
        if not is_key(key):
            raise Invalid.field(
                f"trigger_spec.filter.attributes.{key[:80]}", "is not the key of an attribute"
            )


def _require_statement(spec: CustomSql, schema: str) -> None:
    if (spec.op is None) != (spec.value is None):
        missing = "op" if spec.op is None else "value"
        raise Invalid.field(f"trigger_spec.{missing}", "send both op and value, or neither")
    if spec.value is not None:
        _require_finite("trigger_spec.value", spec.value)
    try:
        guard(spec.sql, [], schema=schema)
    except Invalid as refused:
        reasons = [reason for reasons in refused.fields.values() for reason in reasons]
        raise Invalid(
            f"trigger_spec.sql: {'; '.join(reasons)}",
            fields={"trigger_spec.sql": reasons},
            code=refused.code,
        ) from None
    # PostgreSQL cannot store U+0000, although ClickHouse might accept it.
    if "\x00" in spec.sql:
        raise Invalid.field("trigger_spec.sql", "must not contain U+0000")


def _require_finite(field: str, number: float) -> None:
    if not math.isfinite(number):
        raise Invalid.field(field, "must be a finite number")


def _named(error: msgspec.ValidationError) -> Invalid:
    path, reason = in_json_words(error)
    field = f"trigger_spec.{path}" if path else "trigger_spec"
    return Invalid.field(field, "is required" if reason == MISSING else reason)
