"""The rows that backups have of Redis: whose they are, and what they may say.

A key of Redis decides whose data an entry is, so a row is read before its key is used.
"""

import re
from collections.abc import Sequence

import msgspec

from shared.foundation.core.ids import parse_uuid
from shared.foundation.queue.waiting import SHARDS
from shared.intake.ingest import dead_letters
from shared.intake.otlp.assignment import state, waiting
from shared.reading.evaluations.records import Evaluation
from shared.upkeep.backup.files import Row
from shared.upkeep.backup.manifest import BackupColumn, refused

RECORDS, WAITING, DECISIONS, BATCHES, DEAD = (
    "records",
    "waiting_records",
    "decisions",
    "batches",
    "dead_letters",
)
_ENTRY = [BackupColumn("key", "text"), BackupColumn("id", "text"), BackupColumn("fields", "list")]
COLUMNS = {
    RECORDS: _ENTRY,
    WAITING: [
        BackupColumn("org_id", "text"),
        BackupColumn("shard", "int"),
        BackupColumn("trace_id", "text"),
        BackupColumn("records", "bytes"),
    ],
    DECISIONS: [
        BackupColumn("key", "text"),
        BackupColumn("lives_ms", "int"),
        BackupColumn("fields", "list"),
    ],
    BATCHES: [*_ENTRY, BackupColumn("since_ms", "int")],
    DEAD: _ENTRY,
}
_ID = rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# The parts of a key before its organization, the organization, and the rest.
_KEYS = {
    RECORDS: re.compile(rb"(otlp:records:)(%s)(:[0-%d])" % (_ID, SHARDS - 1)),
    DECISIONS: re.compile(rb"(otlp:(?:trace|spans):)(%s)(:[0-9a-f]{32})" % _ID),
    BATCHES: re.compile(rb"(ingest:events:)(%s)()" % _ID),
    DEAD: re.compile(rb"(%s)()()" % dead_letters.STREAM_KEY.encode()),
}
_ENTRY_ID = re.compile(rb"[0-9]{1,15}-[0-9]{1,15}")
_TRACE_ID = re.compile(rb"[0-9a-f]{32}")
# The fields that every entry has, and those that it may have. Workers rely on them.
_NEEDED = {
    RECORDS: {b"slug", b"request_id", b"data"},
    BATCHES: {b"slug", b"request_id", b"data"},
    DEAD: {b"org_id", b"slug", b"reason", b"data"},
}
_MORE: dict[str, set[bytes]] = {
    RECORDS: {b"traceparent"},
    BATCHES: {b"traceparent", b"idle_only", b"receipt", b"delayed", b"evaluations"},
    DEAD: set(),
}
# No decision lives longer.
_MAX_LIFE_MS = state.TRACE_TTL_MS + state.HOUR_MS

_encode_evaluations = msgspec.msgpack.Encoder().encode
_decode_evaluations = msgspec.msgpack.Decoder(tuple[Evaluation, ...]).decode


def fields_of(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    """Returns the fields of an entry from their names and values, one after the other."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def owner_of(kind: str, row: Row) -> str:
    """Returns the organization of a row; raises `Conflict` if it is not a row of its kind."""
    try:
        owner = _owner(kind, row)
    except (ValueError, LookupError, msgspec.MsgspecError):
        owner = None
    if owner is None or parse_uuid(owner) is None:
        raise refused(f"a row of {kind} is not of this kind")
    return owner


def moved(kind: str, row: Row, org_id: str, slug: str) -> Row:
    """Returns a row that `owner_of` accepts as one of another organization."""
    if kind == WAITING:
        _, shard, trace_id, packed = row
        return [org_id.encode(), shard, trace_id, waiting.renamed(packed, slug)]
    before, _, rest = _parts(kind, row[0])
    key = before if kind == DEAD else before + org_id.encode() + rest
    if kind == DECISIONS:
        return [key, *row[1:]]
    fields = fields_of(row[2])
    fields[b"slug"] = slug.encode()
    if b"org_id" in fields:
        fields[b"org_id"] = org_id.encode()
    if b"evaluations" in fields:
        fields[b"evaluations"] = _of(org_id, fields[b"evaluations"])
    return [key, row[1], [part for pair in fields.items() for part in pair], *row[3:]]


def _owner(kind: str, row: Row) -> str | None:
    """Returns the organization that a row names, or None; raises for what cannot be decoded."""
    if kind == WAITING:
        org_id, shard, trace_id, packed = row
        is_one = shard in range(SHARDS) and bool(_TRACE_ID.fullmatch(trace_id))
        return org_id.decode() if is_one and waiting.is_readable(packed) else None
    before, org_id, _ = _parts(kind, row[0])
    fields = fields_of(row[2])
    if kind == DECISIONS:
        is_one = bool(fields) and 0 < (row[1] or 0) <= _MAX_LIFE_MS
        return org_id.decode() if is_one and state.is_readable(before, fields) else None
    owner = fields[b"org_id"] if kind == DEAD else org_id
    return owner.decode() if _ENTRY_ID.fullmatch(row[1]) and _is_entry(kind, fields) else None


def _is_entry(kind: str, fields: dict[bytes, bytes]) -> bool:
    names = set(fields)
    if not _NEEDED[kind] <= names <= _NEEDED[kind] | _MORE[kind]:
        return False
    for name in names - {b"data", b"evaluations"}:
        fields[name].decode()
    if b"evaluations" in fields:
        _decode_evaluations(fields[b"evaluations"])
    return True


def _parts(kind: str, key: bytes) -> tuple[bytes, bytes, bytes]:
    found = _KEYS[kind].fullmatch(key)
    if found is None:
        raise ValueError("a key of another kind")
    return found[1], found[2], found[3]


def _of(org_id: str, packed: bytes) -> bytes:
    rows = _decode_evaluations(packed)
    return _encode_evaluations([msgspec.structs.replace(row, org_id=org_id) for row in rows])
