"""The answers to senders: those of exports and `google.rpc.Status`, in protobuf and JSON."""

import msgspec

from shared.foundation.core.errors import RateLimited, WatchpostError
from shared.intake.otlp.wire.reading import JSON
from shared.intake.otlp.wire.signals import Signal

# Exporters give up after 10 s altogether, so a longer wait would lose their records.
MAX_RETRY_SECS = 3
# The numbers of gRPC for HTTP's statuses; the same in both ways.
CODES = {
    400: 3,
    401: 16,
    403: 7,
    404: 5,
    405: 12,
    408: 4,
    413: 8,
    415: 3,
    422: 3,
    503: 14,
}
_INTERNAL = 13
_NUMBER, _BYTES = 0, 2
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def export_answer(signal: Signal, media_type: str, rejected: int, message: str) -> bytes:
    """Returns the answer of an export; `message` tells what was rejected, or warns of something."""
    if media_type == JSON:
        # Protobuf's JSON has integers of 64 bits as text.
        partial = {signal.rejected: str(rejected), "errorMessage": message}
        return msgspec.json.encode({"partialSuccess": partial} if message else {})
    return _message(1, _number(1, rejected) + _text(2, message)) if message else b""


def status(media_type: str, code: int, message: str) -> bytes:
    """Returns a `google.rpc.Status`."""
    if media_type == JSON:
        return msgspec.json.encode({"code": code, "message": message})
    return _number(1, code) + _text(2, message)


def status_with_retry(code: int, message: str, after_secs: int) -> bytes:
    """Returns a `google.rpc.Status` in protobuf that asks to try again after a time."""
    info = _message(1, _number(1, after_secs))
    detail = _text(1, _RETRY_INFO) + _message(2, info)
    return _number(1, code) + _text(2, message) + _message(3, detail)


def status_of(error: WatchpostError) -> int:
    """Returns HTTP's status of an error.

    A limit is 503 here: some exporters drop on 429 what they send again after 503.
    """
    return 503 if isinstance(error, RateLimited) else error.status


def retry_secs(error: WatchpostError) -> int | None:
    """Returns the seconds after which an exporter may try again, None if the error has none."""
    wait = error.retry_after_secs
    return None if wait is None else min(wait, MAX_RETRY_SECS)


def code_of(http_status: int) -> int:
    """Returns the code of an answer with this status."""
    return CODES.get(http_status, _INTERNAL)


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3 | _NUMBER]) + _varint(value) if value else b""


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode(errors="replace")) if value else b""


def _message(field: int, content: bytes) -> bytes:
    return bytes([field << 3 | _BYTES]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
