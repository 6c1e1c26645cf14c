"""The one-line summary of an event in lists."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from shared.intake.ingest.fields import Fields, has_error

MAX_CHARS = 200
# Text is cut before white space is folded, so that a megabyte of tool output costs little.
_READ_CHARS = 400
_ENVELOPE = frozenset({"session_id", "timestamp", "type", "agent_id", "environment"})

_decode_text = msgspec.json.Decoder(str).decode
_decode_object = msgspec.json.Decoder(dict[str, Raw]).decode


def summarise(event_type: str, fields: Fields, payload: bytes) -> str:
    """Returns at most 200 characters on one line; empty if the event has no text at all."""
    build = _BY_TYPE.get(event_type)
    line = build(fields) if build else ""
    return _one_line(line or _first_text(payload))


def _one_line(text: str) -> str:
    # The start of a long text usually needs no folding, and then the rest of it does not matter.
    head = text[: MAX_CHARS + 1]
    # Most texts are already one line with single spaces, and a check is cheaper than folding.
    if head.isprintable() and "  " not in head and head[:1] != " " and head[-1:] != " ":
        return head if len(head) <= MAX_CHARS else head[: MAX_CHARS - 1] + "…"
    line = " ".join(text[:_READ_CHARS].split())
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1] + "…"


def _text(raw: Raw | UnsetType) -> str:
    """Returns a string's characters, any other value's JSON, and an empty text for null."""
    if raw is UNSET:
        return ""
    data = bytes(raw)
    if data[:1] != b'"':
        return "" if data == b"null" else data[:_READ_CHARS].decode(errors="replace")
    try:
        return _decode_text(data)
    except msgspec.MsgspecError:
        return data[1:-1].decode(errors="replace")


def _join(separator: str, first: str, second: str) -> str:
    return f"{first}{separator}{second}" if first and second else first or second


def _tool_use(fields: Fields) -> str:
    return f"{fields.tool_name}({_text(fields.input)})" if fields.tool_name else ""


def _tool_result(fields: Fields) -> str:
    result = _text(fields.error if has_error(fields) else fields.output)
    return _join(" → ", fields.tool_name or "", result)


def _model(fields: Fields) -> str:
    tokens = ""
    if fields.input_tokens is not None or fields.output_tokens is not None:
        tokens = f"{fields.input_tokens or 0}+{fields.output_tokens or 0} tokens"
    ending = _join(", ", _text(fields.stop_reason), tokens)
    return _join(" → ", fields.model or "", ending)


def _hook(fields: Fields) -> str:
    name = _join(" on ", fields.hook_name or "", fields.trigger_event or "")
    return _join(" → ", name, fields.outcome or "")


def _reason(fields: Fields) -> str:
    return _text(fields.reason)


_BY_TYPE: dict[str, Callable[[Fields], str]] = {
    "agent_start": lambda fields: _text(fields.goal),
    "agent_end": lambda fields: _join(": ", fields.outcome or "", _text(fields.summary)),
    "agent_pause": _reason,
    "agent_resume": _reason,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "model_request": _model,
    "model_response": _model,
    "error": lambda fields: _join(": ", fields.error_type or "", _text(fields.message)),
    "hook_triggered": _hook,
    "hook_completed": _hook,
    "human_wait": lambda fields: _text(fields.prompt) or _text(fields.reason),
    "human_input": lambda fields: _text(fields.response),
    "human_pause": _reason,
    "human_interrupt": _reason,
}


def _first_text(payload: bytes) -> str:
    """Returns the first text among the event's own fields, else the first inside one of them."""
    try:
        members = _decode_object(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    own = [raw for name, raw in members.items() if name not in _ENVELOPE]
    texts = (_text(raw) for raw in own if bytes(raw).startswith(b'"'))
    return next(filter(None, texts), "") or next(filter(None, map(_inner_text, own)), "")


def _inner_text(raw: Raw) -> str:
    try:
        left: list[Any] = [msgspec.json.decode(raw)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    while left:
        value = left.pop()
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            left.extend(reversed(value))
    return ""
