"""Separates good events from bad ones; a bad event never rejects its batch.

This is the hot path of the service: an event is parsed once into the five fields that every event
has, everything else is checked and skipped, and its bytes stay unchanged. Lines are read together,
step by step, which takes less time. If one of them may be bad, they are read one by one.
"""

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
import xxhash
from msgspec import Meta

from shared.core.clock import now_us
from shared.events.batch import MAX_FUTURE, POSITION_BITS, Batch

MAX_ERRORS = 20
# Lines that are read together, in about a millisecond.
_TOGETHER = 500
# Threads of a process cannot parse at the same time, and the more of them try, the longer a thread
# that serves a read waits for its turn. So they parse a piece each, one after the other.
_PARSING = threading.Lock()
_OLDEST_US = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Matches escapes one after the other, so that an escaped backslash never starts one. Group 1 is a
# surrogate without its other half.
_ESCAPE = re.compile(
    rb"\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u(d[89a-f][0-9a-f]{2})|.)",
    re.IGNORECASE | re.DOTALL,
)

# Turns an event as sent into the event to store.
Redact = Callable[[bytes], bytes]


class Envelope(msgspec.Struct, gc=False):
    """The fields that every event must have, typed and bounded."""

    session_id: Annotated[str, Meta(min_length=1, max_length=256)]
    timestamp: Annotated[datetime, Meta(tz=True)]
    type: Annotated[str, Meta(min_length=1, max_length=64)]
    agent_id: Annotated[str, Meta(min_length=1, max_length=256)] = "main"
    environment: Annotated[str, Meta(min_length=1, max_length=64)] = "default"


class LineError(msgspec.Struct):
    """The reason why one line or array element was skipped; `line` counts from 1."""

    line: int
    error: str


class Decoded(msgspec.Struct):
    """The good events of a body, the number of skipped ones and the first reasons."""

    batch: Batch
    skipped: int
    errors: list[LineError]


class Rejected(Exception):
    """One event cannot be accepted; the message is for the sender."""


_decode_envelope = msgspec.json.Decoder(Envelope).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decode_events(
    lines: list[bytes], org_id: str, max_event_bytes: int, redact: Redact | None = None
) -> Decoded:
    """Checks every line and collects the good ones into a batch of the organization.

    `redact` makes the payload of an accepted line; without it the line is the payload.
    """
    received = now_us()
    reader = _Reader(org_id, received, max_event_bytes, redact)
    for start in range(0, len(lines), _TOGETHER):
        with _PARSING:
            reader.read_piece(start + 1, lines[start : start + _TOGETHER])
    return Decoded(reader.batch, reader.skipped, reader.errors)


class _Reader:
    """A reader of lines into a batch; ids that were found good once are not checked again."""

    def __init__(
        self, org_id: str, received_us: int, max_event_bytes: int, redact: Redact | None
    ) -> None:
        self.batch = Batch([], [], [], [], [], [], [], [])
        self.skipped = 0
        self.errors: list[LineError] = []
        self._seed = xxhash.xxh3_64_intdigest(org_id.encode())
        self._arrival = (received_us // 1000) << POSITION_BITS
        self._newest_us = received_us + MAX_FUTURE // timedelta(microseconds=1)
        self._max_bytes = max_event_bytes
        self._redact = redact
        self._clean: set[str] = set()

    def read_piece(self, number: int, lines: list[bytes]) -> None:
        """Reads the lines from `number` on."""
        if not self._read_together(number, lines):
            for place, line in enumerate(lines, number):
                self._read(place, line)

    def _read_together(self, number: int, candidates: list[bytes]) -> bool:
        """Reads the lines from `number` on; reads none if one of them may be bad or is blank."""
        lines = list(map(bytes.strip, candidates))
        while lines and not lines[-1]:
            lines.pop()
        if not lines:
            return True
        try:
            if max(map(len, lines)) > self._max_bytes:
                return False
            for line in lines:
                if not line.isascii():
                    str(line, "utf-8")
            events = list(map(_decode_envelope, lines))
        except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError):
            return False
        ts = [round(event.timestamp.timestamp() * 1_000_000) for event in events]
        if min(ts) < _OLDEST_US or max(ts) > self._newest_us:
            return False
        read = Batch(
            [xxhash.xxh3_64_intdigest(line, self._seed) >> 11 for line in lines],
            ts,
            list(range(self._arrival + number, self._arrival + number + len(lines))),
            [event.session_id for event in events],
            [event.agent_id for event in events],
            [event.type for event in events],
            [event.environment for event in events],
            lines if self._redact is None else list(map(self._redact, lines)),
        )
        if not _is_clean(read):
            return False
        self.batch.extend(read)
        return True

    def _read(self, number: int, line: bytes) -> None:
        line = line.strip()
        if not line:
            return
        try:
            event = self._parse(line)
            ts = self._check(event)
        except Rejected as error:
            self.skipped += 1
            if len(self.errors) < MAX_ERRORS:
                self.errors.append(LineError(number, str(error)))
            return
        batch = self.batch
        # Hashes the bytes as sent: a repeated event has the same id even if the redaction has
        # changed.
        batch.ids.append(xxhash.xxh3_64_intdigest(line, self._seed) >> 11)
        batch.ts.append(ts)
        batch.arrivals.append(self._arrival + number)
        batch.session_ids.append(event.session_id)
        batch.agent_ids.append(event.agent_id)
        batch.event_types.append(event.type)
        batch.environments.append(event.environment)
        batch.payloads.append(line if self._redact is None else self._redact(line))

    def _parse(self, line: bytes) -> Envelope:
        if len(line) > self._max_bytes:
            raise Rejected(f"larger than {self._max_bytes} bytes")
        try:
            if not line.isascii():
                # The parser skips over unused fields without checking their encoding.
                str(line, "utf-8")
            return _decode_envelope(line)
        except UnicodeDecodeError:
            raise Rejected("is not valid UTF-8") from None
        except msgspec.ValidationError as error:
            return _parse_last(line, error)
        except msgspec.DecodeError:
            return _parse_surrogates(line)
        except RecursionError:
            raise Rejected("is nested too deeply") from None

    def _check(self, event: Envelope) -> int:
        ts = round(event.timestamp.timestamp() * 1_000_000)
        if ts < _OLDEST_US:
            raise Rejected("timestamp is before 2000-01-01")
        if ts > self._newest_us:
            raise Rejected("timestamp is more than 24 hours in the future")
        clean = self._clean
        if event.session_id not in clean:
            self._require_clean("session_id", event.session_id)
        if event.agent_id not in clean:
            self._require_clean("agent_id", event.agent_id)
        if event.type not in clean:
            self._require_clean("type", event.type)
        if event.environment not in clean:
            if "," in event.environment:
                raise Rejected("environment contains a comma")
            self._require_clean("environment", event.environment)
        return ts

    def _require_clean(self, name: str, value: str) -> None:
        if _CONTROL.search(value):
            raise Rejected(f"{name} contains a control character")
        # A value with a comma is never cached: it may be a session but not an environment.
        if "," not in value:
            self._clean.add(value)


def _is_clean(batch: Batch) -> bool:
    environments = "".join(set(batch.environments))
    others = "".join({*batch.session_ids, *batch.agent_ids, *batch.event_types})
    return not ("," in environments or _CONTROL.search(environments) or _CONTROL.search(others))


def _parse_last(line: bytes, refusal: msgspec.ValidationError) -> Envelope:
    """Parses a line in which a field occurs twice: only the last one counts."""
    try:
        return _decode_envelope(msgspec.json.encode(_decode_members(line)))
    except msgspec.ValidationError as error:
        raise Rejected(_explain(error)) from None
    except (msgspec.DecodeError, RecursionError):
        raise Rejected(_explain(refusal)) from None


def _parse_surrogates(line: bytes) -> Envelope:
    """Parses a line with half of a surrogate pair, which is grammatical JSON but not Unicode."""
    mended = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], line)
    try:
        if mended != line:
            return _decode_envelope(mended)
    except msgspec.ValidationError as error:
        raise Rejected(_explain(error)) from None
    except msgspec.DecodeError:
        pass
    except RecursionError:
        raise Rejected("is nested too deeply") from None
    raise Rejected("is not JSON")


def _explain(error: msgspec.ValidationError) -> str:
    """Translates msgspec's reason into the words of this API: `timestamp has no zone`."""
    reason, _, path = str(error).partition(" - at `$.")
    field = path.rstrip("`")
    if not field:
        if "missing required field" in reason:
            return f"{reason.split('`')[1]} is missing"
        return "is not an object"
    if "timezone" in reason:
        return f"{field} has no zone"
    if "RFC3339" in reason:
        return f"{field} is not an RFC 3339 time"
    return f"{field}: {reason[0].lower()}{reason[1:]}"
