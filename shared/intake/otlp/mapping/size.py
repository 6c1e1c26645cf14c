"""Encodes payloads, and cuts the texts of those that are too large."""

from typing import Any

import msgspec

_LARGEST_TEXT = 512 * 1024
_ENVELOPE = frozenset({"session_id", "timestamp", "type", "agent_id", "environment", "source"})
# A dimension that was cut would be another value. They are short.
_DIMENSIONS = frozenset({"user_id", "agent_version", "tags", "attributes"})
_NEVER_CUT = _ENVELOPE | _DIMENSIONS
_IDS = frozenset({"trace_id", "span_id", "parent_span_id", "cut"})
# Deeper values become text: the encoder refuses what is nested a thousand times.
_MAX_DEPTH = 100

_encoder = msgspec.json.Encoder(order="deterministic")
# The parts of a payload: a container, the key of a value in it, and the path of the value.
_Part = tuple[Any, Any, str]


def encode(payload: dict[str, Any]) -> bytes:
    """Encodes as JSON with sorted keys."""
    try:
        return _encoder.encode(payload)
    except RecursionError:
        return _encoder.encode(_shallow(payload, 0))


def fitted(payload: dict[str, Any], limit: int) -> bytes:
    """Encodes in at most `limit` bytes.

    Texts are cut to the largest power of two, at most 512 KiB, with which the event fits, and `…`
    is added. `otel.cut` has the bytes that each text had before. If there are too many small values
    for this, objects and lists are first turned into text. Dimensions are not cut; they are left
    out if nothing else helps.
    """
    payload = _shallow(payload, 0)
    encoded = _cut(payload, limit)
    if encoded is None:
        _flatten(payload)
        encoded = _cut(payload, limit)
    if encoded is None:
        payload = {key: value for key, value in payload.items() if key not in _DIMENSIONS}
        encoded = _cut(payload, limit)
    return encode(payload) if encoded is None else encoded


def _cut(payload: dict[str, Any], limit: int) -> bytes | None:
    """Cuts the texts of a payload; None if it cannot fit that way."""
    texts = [(part, part[0][part[1]].encode()) for part in _texts(payload)]
    longest = max((len(data) for _, data in texts), default=0)
    largest = _LARGEST_TEXT
    while largest and largest >= longest:
        largest //= 2
    while largest:
        cut = {}
        for (container, key, path), data in texts:
            if len(data) > largest:
                container[key] = data[:largest].decode(errors="ignore") + "…"
                cut[path] = len(data)
        payload["otel"]["cut"] = cut
        encoded = encode(payload)
        if len(encoded) <= limit:
            return encoded
        largest //= 2
    return None


def _texts(payload: dict[str, Any]) -> list[_Part]:
    """Returns all texts that may be cut: neither ids nor the fields that every event has."""
    texts: list[_Part] = []
    left: list[tuple[Any, str]] = [(payload, "")]
    while left:
        container, path = left.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in items:
            if (path == "" and key in _NEVER_CUT) or (path == "otel." and key in _IDS):
                continue
            if type(value) is str:
                texts.append((container, key, f"{path}{key}"))
            elif isinstance(value, (dict, list)):
                left.append((value, f"{path}{key}."))
    return texts


def _flatten(payload: dict[str, Any]) -> None:
    """Turns the objects and lists of a payload into their JSON text."""
    payload["otel"].pop("cut", None)
    for container, kept in ((payload, {"otel", *_DIMENSIONS}), (payload["otel"], set())):
        for key, value in container.items():
            if isinstance(value, (dict, list)) and value and key not in kept:
                container[key] = encode_value(value)


def encode_value(value: Any) -> str:
    """Encodes a value as JSON text with sorted keys."""
    return _encoder.encode(value).decode()


def _shallow(value: Any, depth: int) -> Any:
    """Copies a value; containers that are nested too deeply become `…`."""
    if not isinstance(value, (dict, list)):
        return value
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, list):
        return [_shallow(item, depth + 1) for item in value]
    return {key: _shallow(item, depth + 1) for key, item in value.items()}
