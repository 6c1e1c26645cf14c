"""Cuts bodies into candidates for events, which are checked afterwards."""

import msgspec

from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.errors import BadRequest, Invalid, TooLarge
from shared.intake.ingest.elements import split_elements

# Positions of a batch have to fit into `arrival`, and a small body of line breaks must not unpack
# into gigabytes.
MAX_EVENTS = 2**POSITION_BITS - 1

_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


class _EventsObject(msgspec.Struct):
    events: list[msgspec.Raw]


_decode_wrapped = msgspec.json.Decoder(_EventsObject).decode


def ndjson_lines(body: bytes) -> list[bytes]:
    """Returns one candidate per line; blank ones are dropped later and do not count.

    Raises `TooLarge` for more than `MAX_EVENTS` lines.
    """
    lines = body.split(b"\n", MAX_EVENTS + 1)
    if len(lines) > MAX_EVENTS + 1:
        raise TooLarge(f"the body has more than {MAX_EVENTS} lines")
    return lines


def json_elements(body: bytes) -> list[bytes]:
    """Returns the elements of `[…]` or `{"events": […]}`, each as it was sent.

    Raises `BadRequest` if the body is not JSON, `Invalid` if it is other JSON, `TooLarge` for more
    than `MAX_EVENTS`. Bad elements (too deeply nested, not quite JSON) are separated too, so that
    only they are skipped.
    """
    text = body.strip()
    elements = None
    # The parser has no limit on elements, so it is not used if there might be too many.
    if text.count(b",") < MAX_EVENTS:
        elements = _parse_elements(text)
    if elements is None:
        elements = split_elements(text, MAX_EVENTS)
        # A comma without a value next to it is not a bad event: the whole text is no array.
        if elements is None or not all(map(bytes.strip, elements)):
            raise BadRequest("the body is not JSON", code="bad_json")
    return elements


def _parse_elements(text: bytes) -> list[bytes] | None:
    """Returns the elements that the parser finds, None if the text is not JSON for it."""
    try:
        if text.startswith(b"["):
            return [bytes(raw) for raw in _decode_array(text)]
        return [bytes(raw) for raw in _decode_wrapped(text).events]
    except msgspec.ValidationError:
        raise Invalid.field("events", 'the body must be an array or {"events": […]}') from None
    except (msgspec.DecodeError, RecursionError):
        return None
