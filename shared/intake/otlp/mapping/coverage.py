"""Counts the attributes that the mapping uses and those it does not know, for each service."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from shared.intake.otlp.mapping import flattened
from shared.intake.otlp.mapping.content_events import is_content
from shared.intake.otlp.mapping.dimension_tables import DIMENSIONS
from shared.intake.otlp.mapping.memory import ByNames
from shared.intake.otlp.mapping.sources import parse
from shared.intake.otlp.mapping.tables import (
    AGENT,
    CALLER,
    ENVIRONMENT,
    ERROR_TYPE,
    FAMILIAR,
    FIELDS,
    KIND_COLUMNS,
    KIND_SIGNS,
    SERVICE,
    SESSION,
)
from shared.intake.otlp.mapping.vendors import VENDORS
from shared.intake.otlp.records import Span

_MAX_NAME = 200
_NUMBER = re.compile(r"(?<=\.)[0-9]+(?=\.|$)")
_OF_VENDORS = [names for vendor in VENDORS for names in vendor.dimensions.values()]
_SOURCES = [
    source
    for notations in (
        *(SESSION, AGENT, CALLER, ENVIRONMENT, *FIELDS.values()),
        *(*DIMENSIONS.values(), *_OF_VENDORS),
    )
    for notation in notations
    for source in parse(notation)
]
_NAMED = {
    *(source.key for source in _SOURCES if not source.is_list),
    *KIND_COLUMNS,
    *(key for key, _, _ in KIND_SIGNS),
    *(SERVICE, ERROR_TYPE),
    *(name for name in FAMILIAR if not name.endswith(".")),
}
_FAMILIAR_PREFIXES = (
    *(name for name in FAMILIAR if name.endswith(".")),
    *(name.removesuffix("*") for name in DIMENSIONS["attributes"] if name.endswith(".*")),
)
_CONTENT_FIELDS = ("input_messages", "output_messages")
_CONTENT = {
    source.key
    for field in _CONTENT_FIELDS
    for notation in FIELDS[field]
    for source in parse(notation)
    if not source.is_list
}


def unmapped(span: Span) -> Sequence[str]:
    """Returns the attributes of a span that no rule names, numbers between dots as `N`, once."""
    return _UNMAPPED.of(span.attributes)


def has_content(span: Span) -> bool:
    """Returns whether the span of a call of a model has messages, in either direction."""
    for key, value in span.attributes.items():
        if value and _is_content(key[: _MAX_NAME + 1]):
            return True
    return any(is_content(event.name) for event in span.events)


def _unmapped_of(names: Iterable[str]) -> Sequence[str]:
    found = dict.fromkeys([_unmapped(name[:_MAX_NAME]) for name in names])
    return tuple(name for name in found if name is not None)


_UNMAPPED = ByNames(_unmapped_of)


@lru_cache(maxsize=8192)
def _unmapped(key: str) -> str | None:
    if key in _NAMED or key.startswith(_FAMILIAR_PREFIXES) or flattened.path_of(key) is not None:
        return None
    return _NUMBER.sub("N", key)


@lru_cache(maxsize=8192)
def _is_content(key: str) -> bool:
    if key in _CONTENT:
        return True
    path = flattened.path_of(key)
    return path is not None and flattened.FAMILIES[path[0]] in _CONTENT_FIELDS
