"""The user of a stored event, as SQL and as Python find it.

Events have a column for it. Those that were stored before it existed have null there, and their
payloads are read by the rules of ingest: `user_id`, unless it names the person who acted; else, of
OpenTelemetry, the first attribute of the record, then of its resource, that names a user.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from shared.intake.otlp.mapping.dimension_tables import DIMENSIONS
from shared.intake.otlp.mapping.sources import Source, parse, part_of
from shared.intake.otlp.mapping.values import text
from shared.intake.otlp.mapping.vendors import VENDORS
from shared.reading.dimensions.names import NAME_AN_ACTOR, REDACTED
from shared.reading.sessions.deleted import Hashing

FIELD = "user_id"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _sources(notations: Iterable[str]) -> tuple[Source, ...]:
    return tuple(chain.from_iterable(map(parse, notations)))


_SOURCES = _sources(DIMENSIONS[FIELD])
# Records whose names begin so have sources of their own.
_OF_VENDORS = {
    vendor.prefix: _sources(vendor.dimensions[FIELD])
    for vendor in VENDORS
    if FIELD in vendor.dimensions
}
_PLACES = ("attributes", "resource")


def is_user(value: str) -> bool:
    """Returns whether a text may be the user of an event, whatever its length."""
    return value not in ("", REDACTED) and not _CONTROL.search(value)


def user_sql(hashing: Hashing, value_hash: str) -> str:
    """Returns the SQL condition that the user of an event has this hash."""
    actors = ", ".join(f"'{name}'" for name in sorted(NAME_AN_ACTOR))
    # The names of all sources have the word, unless JSON spells it with escapes.
    may_name = "(position(payload, 'user') > 0 OR position(payload, '\\\\u') > 0)"
    raws = f"arrayConcat([JSONExtractRaw(payload, '{FIELD}')], {_raws_of_otel()})"
    texts = f"arrayMap(r -> {_text_of('r')}, {raws})"
    first = f"arrayFirst(v -> v NOT IN ('', '{REDACTED}') AND NOT match(v, '[[:cntrl:]]'), {texts})"
    of_payload = f"if(event_type NOT IN ({actors}) AND {may_name}, {first}, '')"
    user = f"if(isNotNull(user_id), assumeNotNull(user_id), {of_payload})"
    return f"{hashing.sql(user)} = '{value_hash}'"


def _raws_of_otel() -> str:
    """Returns the SQL of the list of the raw values of all sources, in their order."""
    sources = f"[{', '.join(map(_raw_of, _SOURCES))}]"
    for prefix, own in _OF_VENDORS.items():
        is_theirs = f"startsWith(JSONExtractString(payload, 'otel', 'name'), '{prefix}')"
        sources = f"if({is_theirs}, [{', '.join(map(_raw_of, own))}], {sources})"
    maps = ", ".join(
        f"CAST(JSONExtractKeysAndValuesRaw(payload, 'otel', '{place}'), 'Map(String, String)')"
        for place in _PLACES
    )
    return f"if(JSONHas(payload, 'otel'), arrayFlatten(arrayMap(m -> {sources}, [{maps}])), [])"


def _raw_of(source: Source) -> str:
    raw = f"m['{source.key}']"
    if not source.is_part:
        return raw
    # The object may be the JSON of one, as a text.
    decoded = f"if(startsWith({raw}, '\"'), JSONExtractString({raw}), {raw})"
    [member] = source.members
    path = ", ".join(f"'{name}'" for name in member.path)
    return f"JSONExtractRaw({decoded}, {path})"


def _text_of(raw: str) -> str:
    """Returns the SQL of the text of a raw value: a string, or the digits of an integer."""
    is_integer = f"match({raw}, '^-?[0-9]+$')"
    return f"multiIf(startsWith({raw}, '\"'), JSONExtractString({raw}), {is_integer}, {raw}, '')"


def names_user(event_type: str, payload: bytes, value: str) -> bool:
    """Returns whether the value is the user of an event that has no column, as `user_sql` does."""
    if event_type in NAME_AN_ACTOR:
        return False
    try:
        event: Any = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    texts = map(text, _values(event))
    return value == next((one for one in texts if one is not None and is_user(one)), None)


def _values(event: dict[str, Any]) -> Iterator[Any]:
    """Yields the values that may be the user, in the order in which they count."""
    yield event.get(FIELD)
    otel = event.get("otel")
    if not isinstance(otel, dict):
        return
    name = str(otel.get("name"))
    vendors = (own for prefix, own in _OF_VENDORS.items() if name.startswith(prefix))
    sources = next(vendors, _SOURCES)
    for place in _PLACES:
        attributes = otel.get(place)
        if isinstance(attributes, dict):
            there = (one for one in sources if one.key in attributes)
            yield from (part_of(one, attributes[one.key]) for one in there)
