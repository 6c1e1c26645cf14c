"""Batches of accepted events as they travel through Redis: columns of equal length."""

from datetime import timedelta

import msgspec
import zstandard

# A position takes the low bits of `arrival`: 2^21 events fit a body of 128 MiB with room to spare.
POSITION_BITS = 21
# How far an event may lie ahead of its arrival.
MAX_FUTURE = timedelta(hours=24)

# An entry of the stream holds about this much, so that a worker can bound what it reads.
ENTRY_BYTES = 1024 * 1024
_COMPRESS_FROM_BYTES = 1024


class Batch(msgspec.Struct, array_like=True):
    """Accepted events of one organization, column by column.

    `ids` are 53-bit, `ts` microseconds since the epoch, `arrivals` sort by arrival and then by
    place in the batch, `payloads` are the events as they were sent.
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
        """The events from `start` to `stop`."""
        return Batch(*(getattr(self, name)[start:stop] for name in self.__struct_fields__))

    def pick(self, indexes: list[int]) -> "Batch":
        """The events at `indexes`."""
        columns = (getattr(self, name) for name in self.__struct_fields__)
        return Batch(*([column[index] for index in indexes] for column in columns))


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Batch)


def encode_batch(batch: Batch) -> bytes:
    """MessagePack, compressed when large; a leading byte tells which."""
    packed = _encoder.encode(batch)
    if len(packed) < _COMPRESS_FROM_BYTES:
        return b"\0" + packed
    return b"\1" + zstandard.ZstdCompressor(level=1).compress(packed)


def decode_batch(data: bytes) -> Batch:
    """What `encode_batch` encoded; raises `ValueError` on anything else."""
    try:
        packed = data[1:]
        if data[:1] == b"\1":
            packed = zstandard.ZstdDecompressor().decompress(packed)
        return _decoder.decode(packed)
    except (msgspec.MsgspecError, zstandard.ZstdError) as error:
        raise ValueError(f"not a batch: {error}") from error


def entries_of(batch: Batch) -> list[Batch]:
    """The batch cut into pieces of about `ENTRY_BYTES`, in order."""
    pieces: list[Batch] = []
    start = size = 0
    for index, payload in enumerate(batch.payloads):
        if size and size + len(payload) > ENTRY_BYTES:
            pieces.append(batch.slice(start, index))
            start, size = index, 0
        size += len(payload)
    if start == 0:
        return [batch]
    pieces.append(batch.slice(start, len(batch)))
    return pieces
