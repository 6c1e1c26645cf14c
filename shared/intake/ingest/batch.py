"""Batches of accepted events, and the two forms in which Redis stores them.

Either all columns are packed together, or the body stays as it was sent and the columns that were
read from its lines are packed beside it.
"""

from datetime import timedelta

import msgspec
import xxhash

from shared.foundation.core import body as bodies
from shared.foundation.core.errors import WatchpostError
from shared.foundation.core.packing import pack, unpack

# An event may lie this far ahead of its arrival.
MAX_FUTURE = timedelta(hours=24)

# An entry of the stream has about this size, so that a worker can limit its reads.
ENTRY_BYTES = 1024 * 1024


class Batch(msgspec.Struct, array_like=True):
    """Accepted events of one organization, column by column.

    `ids` have 53 bits. `ts` are microseconds since the epoch. `arrivals` order events by arrival
    and then by position in the batch. `payloads` are the events as they were sent.
    """

    ids: list[int] = []
    ts: list[int] = []
    arrivals: list[int] = []
    session_ids: list[str] = []
    agent_ids: list[str] = []
    event_types: list[str] = []
    environments: list[str] = []
    payloads: list[bytes] = []

    def __len__(self) -> int:
        return len(self.ids)

    def extend(self, other: "Batch") -> None:
        """Appends the events of another batch."""
        for name in self.__struct_fields__:
            getattr(self, name).extend(getattr(other, name))

    def slice(self, start: int, stop: int) -> "Batch":
        """Returns the events from `start` to `stop`."""
        return Batch(*(getattr(self, name)[start:stop] for name in self.__struct_fields__))

    def pick(self, indexes: list[int]) -> "Batch":
        """Returns the events at `indexes`."""
        columns = (getattr(self, name) for name in self.__struct_fields__)
        return Batch(*([column[index] for index in indexes] for column in columns))


class _ParsedColumns(msgspec.Struct, array_like=True):
    """The columns of a batch that its lines do not give without being parsed."""

    ts: list[int]
    session_ids: list[str]
    agent_ids: list[str]
    event_types: list[str]
    environments: list[str]


class _RawBody(msgspec.Struct, array_like=True):
    """A body as it was sent, one line an event, with what else a batch has.

    `first_arrival` is that of the first line. `read` is a `_ParsedColumns`, packed.
    """

    body: bytes
    encoding: str
    id_seed: int
    first_arrival: int
    read: bytes


# Before a `_RawBody`; `pack` uses the lower numbers.
_SENT = b"\2"
# A body that was packed less would take much more of the backlog than the batch, packed here.
_SENT_RATIO = 4

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Batch)
_read_decoder = msgspec.msgpack.Decoder(_ParsedColumns)
_sent_decoder = msgspec.msgpack.Decoder(_RawBody)


def id_seed_of(org_id: str) -> int:
    """Returns the organization's part of the ids of its events."""
    return xxhash.xxh3_64_intdigest(org_id.encode())


def ids_of(lines: list[bytes], id_seed: int) -> list[int]:
    """Returns the ids of events: hashes of 53 bits of their bytes as sent."""
    return [xxhash.xxh3_64_intdigest(line, id_seed) >> 11 for line in lines]


def encode_batch(batch: Batch) -> bytes:
    """Encodes as MessagePack, packed."""
    return pack(_encoder.encode(batch))


def encode_sent(
    batch: Batch, org_id: str, body: bytes, encoding: str, unpacked: bytes
) -> bytes | None:
    """Encodes a batch by the body that brought it, which takes less time than packing it again.

    Returns None unless the body is a packed one of moderate size whose lines are the payloads.
    """
    count, size = len(batch), len(unpacked)
    if size > ENTRY_BYTES or len(body) * _SENT_RATIO > size:
        return None
    # Any other byte means a line that was skipped or changed, or white space around it.
    if sum(map(len, batch.payloads)) + count - 1 != size - unpacked.endswith(b"\n"):
        return None
    read = _ParsedColumns(
        batch.ts, batch.session_ids, batch.agent_ids, batch.event_types, batch.environments
    )
    columns = pack(_encoder.encode(read))
    sent = _RawBody(body, encoding, id_seed_of(org_id), batch.arrivals[0], columns)
    return _SENT + _encoder.encode(sent)


def decode_batch(data: bytes) -> Batch:
    """Decodes the output of `encode_batch` or `encode_sent`; raises `ValueError` for all else."""
    try:
        if data[:1] == _SENT:
            batch = _decode_sent(_sent_decoder.decode(memoryview(data)[1:]))
        else:
            batch = _decoder.decode(unpack(data))
    except (msgspec.MsgspecError, WatchpostError, ValueError) as error:
        raise ValueError(f"not a batch: {error}") from error
    if {len(getattr(batch, name)) for name in batch.__struct_fields__} != {len(batch)}:
        raise ValueError("not a batch: its columns have different lengths")
    return batch


def _decode_sent(sent: _RawBody) -> Batch:
    read = _read_decoder.decode(unpack(sent.read))
    lines = bodies.unpack(sent.body, sent.encoding, ENTRY_BYTES).split(b"\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) != len(read.ts):
        raise ValueError("the body has another number of lines")
    return Batch(
        ids_of(lines, sent.id_seed),
        read.ts,
        list(range(sent.first_arrival, sent.first_arrival + len(lines))),
        read.session_ids,
        read.agent_ids,
        read.event_types,
        read.environments,
        lines,
    )


def entries_of(batch: Batch) -> list[Batch]:
    """Cuts the batch into pieces of about `ENTRY_BYTES`, in order."""
    if sum(map(len, batch.payloads)) <= ENTRY_BYTES:
        return [batch]
    pieces: list[Batch] = []
    start = size = 0
    for index, payload in enumerate(batch.payloads):
        if size and size + len(payload) > ENTRY_BYTES:
            pieces.append(batch.slice(start, index))
            start, size = index, 0
        size += len(payload)
    pieces.append(batch.slice(start, len(batch)))
    return pieces
