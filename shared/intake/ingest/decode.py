"""Separates good events from bad ones; a bad event never rejects its batch.

This is the hot path of the service: an event is parsed once into the five fields that every event
has, everything else is checked and skipped, and its bytes stay unchanged. Lines are read together,
step by step, which takes less time. If one of them may be bad, they are read one by one.
"""

import threading
from collections import Counter
from collections.abc import Callable
from itertools import filterfalse

import msgspec

from shared.foundation.clickhouse.event_columns import POSITION_BITS
from shared.foundation.core.clock import now_us
from shared.foundation.core.text import mend_surrogates
from shared.intake.ingest.batch import Batch, id_seed_of, ids_of
from shared.intake.ingest.envelope import Bounds, Envelope, EventRejected, are_clean, explain
from shared.intake.ingest.typos import CheckedEvent, Warnings

MAX_ERRORS = 20
MAX_BAD = 1000
# Lines that are read together, in about a millisecond.
_TOGETHER = 500
# Threads of a process cannot parse at the same time, and the more of them try, the longer a thread
# that serves a read waits for its turn. So they parse a piece each, one after the other.
PARSING = threading.Lock()

# Turns an event as sent into the event to store.
Redact = Callable[[bytes], bytes]


class LineError(msgspec.Struct):
    """The reason why one line or array element was skipped; `line` counts from 1."""

    line: int
    error: str


class DecodedBody(msgspec.Struct):
    """The good events of a body, the number of skipped ones and the first reasons.

    `reasons` counts all reasons. `bad` are the first `MAX_BAD` skipped lines with their reasons.
    `warnings` are about good events.
    """

    batch: Batch
    skipped: int
    errors: list[LineError]
    reasons: dict[str, int]
    bad: list[tuple[LineError, bytes]]
    warnings: Warnings


_decode_envelope = msgspec.json.Decoder(Envelope).decode
_decode_checked = msgspec.json.Decoder(CheckedEvent).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decode_events(
    lines: list[bytes], org_id: str, max_event_bytes: int, redact: Redact | None = None
) -> DecodedBody:
    """Checks every line and collects the good ones into a batch of the organization.

    `redact` makes the payload of an accepted line; without it the line is the payload.
    """
    received = now_us()
    reader = _Reader(org_id, received, max_event_bytes, redact)
    for start in range(0, len(lines), _TOGETHER):
        with PARSING:
            reader.read_piece(start + 1, lines[start : start + _TOGETHER])
    errors = [error for error, _ in reader.bad[:MAX_ERRORS]]
    return DecodedBody(
        reader.batch, reader.skipped, errors, reader.reasons, reader.bad, reader.warnings
    )


class _Reader:
    """A reader of lines into a batch."""

    def __init__(
        self, org_id: str, received_us: int, max_event_bytes: int, redact: Redact | None
    ) -> None:
        self.batch = Batch([], [], [], [], [], [], [], [])
        self.skipped = 0
        self.reasons: Counter[str] = Counter()
        self.bad: list[tuple[LineError, bytes]] = []
        self.warnings = Warnings()
        self._id_seed = id_seed_of(org_id)
        self._arrival = (received_us // 1000) << POSITION_BITS
        self._bounds = Bounds(received_us)
        self._max_bytes = max_event_bytes
        self._redact = redact

    def read_piece(self, number: int, lines: list[bytes]) -> None:
        """Reads the lines from `number` on."""
        if not self._read_together(number, lines):
            for place, line in enumerate(lines, number):
                self._read(place, line)

    def _read_together(self, number: int, candidates: list[bytes]) -> bool:
        """Reads the lines from `number` on; reads none if one may be bad or odd, or is blank."""
        lines = list(map(bytes.strip, candidates))
        while lines and not lines[-1]:
            lines.pop()
        if not lines:
            return True
        try:
            if max(map(len, lines)) > self._max_bytes:
                return False
            for line in filterfalse(bytes.isascii, lines):
                str(line, "utf-8")
            events = list(map(_decode_checked, lines))
        except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError):
            return False
        ts = [round(event.timestamp.timestamp() * 1_000_000) for event in events]
        if not self._bounds.holds_all(ts):
            return False
        read = Batch(
            ids_of(lines, self._id_seed),
            ts,
            list(range(self._arrival + number, self._arrival + number + len(lines))),
            [event.session_id for event in events],
            [event.agent_id for event in events],
            [event.type for event in events],
            [event.environment for event in events],
            lines if self._redact is None else list(map(self._redact, lines)),
        )
        types = set(read.event_types)
        others = types.union(read.session_ids, read.agent_ids)
        if not are_clean(set(read.environments), others):
            return False
        self.batch.extend(read)
        self.warnings.check_all(number - 1, events, types)
        return True

    def _read(self, number: int, line: bytes) -> None:
        line = line.strip()
        if not line:
            return
        try:
            event = self._parse(line)
            ts = round(event.timestamp.timestamp() * 1_000_000)
            self._bounds.require_time(ts)
            self._bounds.require_names(event)
        except EventRejected as error:
            self.skipped += 1
            self.reasons[str(error)] += 1
            if len(self.bad) < MAX_BAD:
                self.bad.append((LineError(number, str(error)), line))
            return
        self.warnings.check(number - 1, event.type, line)
        batch = self.batch
        # Hashes the bytes as sent: a repeated event has the same id even if the redaction has
        # changed.
        batch.ids += ids_of([line], self._id_seed)
        batch.ts.append(ts)
        batch.arrivals.append(self._arrival + number)
        batch.session_ids.append(event.session_id)
        batch.agent_ids.append(event.agent_id)
        batch.event_types.append(event.type)
        batch.environments.append(event.environment)
        batch.payloads.append(line if self._redact is None else self._redact(line))

    def _parse(self, line: bytes) -> Envelope:
        if len(line) > self._max_bytes:
            raise EventRejected(f"larger than {self._max_bytes} bytes")
        try:
            if not line.isascii():
                # The parser skips over unused fields without checking their encoding.
                str(line, "utf-8")
            return _decode_envelope(line)
        except UnicodeDecodeError:
            raise EventRejected("is not valid UTF-8") from None
        except msgspec.ValidationError as error:
            return _parse_last(line, error)
        except msgspec.DecodeError:
            return _parse_surrogates(line)
        except RecursionError:
            raise EventRejected("is nested too deeply") from None


def _parse_last(line: bytes, refusal: msgspec.ValidationError) -> Envelope:
    """Parses a line in which a field occurs twice: only the last one counts."""
    try:
        return _decode_envelope(msgspec.json.encode(_decode_members(line)))
    except msgspec.ValidationError as error:
        raise EventRejected(explain(error)) from None
    except (msgspec.DecodeError, RecursionError):
        raise EventRejected(explain(refusal)) from None


def _parse_surrogates(line: bytes) -> Envelope:
    """Parses a line with half of a surrogate pair, which is grammatical JSON but not Unicode."""
    mended = mend_surrogates(line)
    try:
        if mended != line:
            return _decode_envelope(mended)
    except msgspec.ValidationError as error:
        raise EventRejected(explain(error)) from None
    except msgspec.DecodeError:
        pass
    except RecursionError:
        raise EventRejected("is nested too deeply") from None
    raise EventRejected("is not JSON")
