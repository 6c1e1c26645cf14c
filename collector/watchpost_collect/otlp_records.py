"""Counts the records of an OTLP request, and reads how many of them the answer refuses."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from watchpost_collect.connection import PROTOBUF, Answer

_LENGTH_DELIMITED = 2
# In JSON the lists of resources, scopes and records have a name for each signal.
_RESOURCES = ("resourceSpans", "resourceLogs")
_SCOPES = ("scopeSpans", "scopeLogs")
_RECORDS = ("spans", "logRecords")
_REJECTED = ("rejectedSpans", "rejectedLogRecords", "rejectedDataPoints")


@dataclass(frozen=True)
class Refusal:
    """The number of refused records, and the reason. A warning has a reason and the count 0."""

    count: int
    reason: str


def count_records(body: bytes, content_type: str, encoding: str) -> int:
    """Returns the number of spans or log records; 0 if the body cannot be read here."""
    try:
        if encoding == "gzip":
            body = gzip.decompress(body)
        elif encoding:
            return 0
        if content_type == PROTOBUF:
            return _count_protobuf(body)
        return _count_json(json.loads(body))
    except (ValueError, TypeError, AttributeError, RecursionError, OSError, EOFError, zlib.error):
        return 0


def refusal(answer: Answer) -> Refusal:
    """Returns what the answer says about partial success."""
    if answer.media_type == PROTOBUF:
        try:
            return _protobuf_refusal(answer.body)
        except ValueError:
            return Refusal(0, "")
    said = answer.document.get("partialSuccess") or {}
    counts = [int(said[name]) for name in _REJECTED if name in said]
    return Refusal(sum(counts), str(said.get("errorMessage", "")))


def _count_json(document: Any) -> int:
    return sum(
        len(record)
        for resources in _lists(document, _RESOURCES)
        for resource in resources
        for scopes in _lists(resource, _SCOPES)
        for scope in scopes
        for record in _lists(scope, _RECORDS)
    )


def _lists(document: Any, names: tuple[str, ...]) -> Iterator[list[Any]]:
    return (document[name] for name in names if name in document)


def _count_protobuf(body: bytes) -> int:
    """Resources are field 1 of a request, scopes field 2 of these, records field 2 of those."""
    return sum(
        field == 2
        for number, resource in _fields(body)
        if number == 1 and isinstance(resource, bytes)
        for place, scope in _fields(resource)
        if place == 2 and isinstance(scope, bytes)
        for field, _ in _fields(scope)
    )


def _protobuf_refusal(body: bytes) -> Refusal:
    """The partial success is field 1 of an answer: the count is its field 1, the reason field 2."""
    count, reason = 0, ""
    for number, partial in _fields(body):
        if number == 1 and isinstance(partial, bytes):
            for field, value in _fields(partial):
                if field == 1 and isinstance(value, int):
                    count = value
                elif field == 2 and isinstance(value, bytes):
                    reason = value.decode(errors="replace")
    return Refusal(count, reason)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yields number and value of each field. Raises `ValueError` if the message is malformed."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == _LENGTH_DELIMITED:
            size, place = _varint(message, place)
        else:
            size = {1: 8, 5: 4}.get(kind, len(message) + 1)
        if place + size > len(message):
            raise ValueError("the message is cut off")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message):
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise ValueError("the message is cut off")
