"""Batches of accepted events in the form in which Redis stores them: columns of equal length."""

from datetime import timedelta

import msgspec
import zstandard

# A position takes the low bits of `arrival`: 2^21 events are far more than a body of 128 MiB holds.
POSITION_BITS = 21
# An event may lie this far ahead of its arrival.
MAX_FUTURE = timedelta(hours=24)

# An entry of the stream has about this size, so that a worker can limit its reads.
ENTRY_BYTES = 1024 * 1024
_COMPRESS_FROM_BYTES = 1024


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


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Batch)


def encode_batch(batch: Batch) -> bytes:
    """Encodes as MessagePack, compressed if large; a leading byte shows which."""
    packed = _encoder.encode(batch)
    if len(packed) < _COMPRESS_FROM_BYTES:
        return b"\0" + packed
    return b"\1" + zstandard.ZstdCompressor(level=1).compress(packed)


def decode_batch(data: bytes) -> Batch:
    """Decodes the output of `encode_batch`; raises `ValueError` for anything else."""
    try:
        packed = data[1:]
        if data[:1] == b"\1":
            packed = zstandard.ZstdDecompressor().decompress(packed)
        return _decoder.decode(packed)
    except (msgspec.MsgspecError, zstandard.ZstdError) as error:
        raise ValueError(f"not a batch: {error}") from error


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
