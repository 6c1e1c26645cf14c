"""The outcome of an evaluation, kept with the job until ClickHouse has it."""

import msgspec

from shared.foundation.core.text import storable
from shared.reading.evaluations.records import EvaluatedResult, Status

MAX_SUMMARY_BYTES = 8192
MAX_ERROR_BYTES = 2048


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome, packed as MessagePack because JSONB cannot hold the character U+0000.

    The fields are those of the record (`shared.reading.evaluations.records`).
    """

    status: Status
    scores: dict[str, float] | None = None
    reasoning: dict[str, str] | None = None
    summary: str | None = None
    error: str | None = None
    results: tuple[EvaluatedResult, ...] = ()
    coverage: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    def packed(self) -> bytes:
        """Returns the bytes of the job's column `result`."""
        return msgspec.msgpack.encode(self)


def unpack(packed: bytes) -> JobResult:
    """Decodes a packed result."""
    return msgspec.msgpack.decode(packed, type=JobResult)


def cut(text: str, max_bytes: int) -> str:
    """Cuts `text` after at most `max_bytes` of UTF-8, between characters."""
    encoded = text.encode()
    return text if len(encoded) <= max_bytes else encoded[:max_bytes].decode(errors="ignore")


def error_text(text: str) -> str:
    """Returns an error text in storable form: cut, and without U+0000."""
    return cut(storable(text), MAX_ERROR_BYTES)
