"""Imports a file: converts it, finds out what of it is new, and adds that to the waiting events."""

from collections import Counter
from typing import NamedTuple

import msgspec
import redis

from shared.foundation.clickhouse.rewriting import FIRST_VERSION
from shared.foundation.core.body import unpack
from shared.foundation.core.clock import format_us, now_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.imports.assembling import Conversion, ImportTarget
from shared.intake.imports.decisions import StoredDecisions
from shared.intake.imports.dimensions import GivenDimensions
from shared.intake.imports.existing import EventIdentity, ExistingRows, Others, existing
from shared.intake.imports.file import ImportFile, last_two_parts
from shared.intake.imports.formats import ImportFormat, format_of
from shared.intake.imports.lock import Lock, locked
from shared.intake.imports.receipts import receipt_of
from shared.intake.ingest.accept import Ingest, count_batch
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.decode import LineError
from shared.intake.ingest.sender import Sender
from shared.intake.ingest.stream import Replacement, append
from shared.intake.otlp.assignment.rules import OrganizationRules
from shared.intake.receipts.receipt import Receipt
from shared.intake.redaction.rules import Redactor

MAX_SESSIONS = 100
_GZIP = b"\x1f\x8b"
_ELSEWHERE = "the session has events that came in another way"


class ImportOptions(msgspec.Struct, frozen=True):
    """The options of an import; `format` is one of `NAMES`, and times are of the epoch.

    `given` are dimensions of events that have none themselves. With `replace`, events that imports
    of the format stored are stored again as the file makes them now.
    """

    format: str
    path: str
    environment: str
    dry_run: bool
    existing_before_ms: int | None
    started_us: int | None
    given: GivenDimensions = GivenDimensions()
    replace: bool = False


class ImportedSession(msgspec.Struct):
    """A session of the file: its events there, and how many of them are new."""

    session_id: str
    events: int
    accepted: int


class SkippedSession(msgspec.Struct):
    """A session of which nothing was imported, and why."""

    session_id: str
    reason: str


class ImportResult(msgspec.Struct):
    """The result of an import; the fields are those of the answer."""

    format: str
    dry_run: bool
    lines: int
    events: int
    accepted: int
    duplicate: int
    skipped: int
    ignored: int
    held_back: int
    errors: list[LineError]
    sessions: list[ImportedSession]
    session_count: int
    skipped_sessions: list[SkippedSession]
    first_ts: str | None
    last_ts: str | None
    replaced: int


class ReadFile(NamedTuple):
    """A file that was read, and its format."""

    file: ImportFile
    form: ImportFormat
    converted: Conversion
    redactor: Redactor


class SortedEvents(NamedTuple):
    """The events of a file that are new, and those that replace stored ones."""

    new: Batch
    replacing: Batch


class Imports:
    """The imports of one web process."""

    def __init__(self, runtime: Runtime, ingest: Ingest) -> None:
        self._runtime = runtime
        self._ingest = ingest
        self._rules = OrganizationRules(runtime)

    def run(self, sender: Sender, body: bytes, wanted: ImportOptions) -> ImportResult:
        """Imports a file, plain or gzip; after this returns its new events will be stored.

        Values of redacted keys are removed as `Ingest.accept` does. A dry run is not counted. The
        sender's `admit` gets the number of new events. Raises `BadRequest`, `Invalid` or `TooLarge`
        for the file as a whole, and `Unavailable` or `QueryTimeout` if a store is down or the
        backlog is full; then nothing was taken.
        """
        org_id = sender.org_id
        if wanted.dry_run:
            return self._answer(org_id, self._read(sender, body, wanted), wanted)[0]
        with self._ingest.refusals_counted(sender):
            self._ingest.require_room(org_id)
            read = self._read(sender, body, wanted)
            with locked(self._runtime.redis, org_id) as lock:
                answer, (new, replacing) = self._answer(org_id, read, wanted)
                sender.admit(len(new) + len(replacing))
                left_alone = answer.events - answer.duplicate - len(new) - len(replacing)
                receipt = receipt_of(
                    sender.origin,
                    read.file,
                    read.converted,
                    lambda line: read.form.excerpt(line, read.redactor),
                    new=new,
                    left_alone={_ELSEWHERE: left_alone} if left_alone else {},
                )
                if new.ids or replacing.ids:
                    self._add(sender, read.converted, SortedEvents(new, replacing), receipt, lock)
                else:
                    self._ingest.count(org_id, receipt)
        count_batch(sender.origin, answer.accepted, answer.skipped)
        return answer

    def _add(
        self,
        sender: Sender,
        converted: Conversion,
        found: SortedEvents,
        receipt: Receipt,
        lock: Lock,
    ) -> None:
        new, replacing = found
        sessions = set(new.session_ids)
        evaluations = [one for one in converted.evaluations if one.session_id in sessions]

        def write(client: redis.Redis) -> int:
            return append(
                client,
                sender.org_id,
                sender.org_slug,
                new,
                receipt,
                idle_only=converted.idle_only,
                evaluations=evaluations,
                guard=lock.guard,
                # Later replacements have higher versions, and so have rows that are repriced later.
                replacement=Replacement(replacing, FIRST_VERSION + now_us())
                if replacing.ids
                else None,
            )

        self._ingest.keep(sender.org_id, write)

    def _answer(
        self, org_id: str, read: ReadFile, wanted: ImportOptions
    ) -> tuple[ImportResult, SortedEvents]:
        """Returns the answer, and the events to store."""
        before_ms = wanted.existing_before_ms
        others = None
        if not read.form.adds_always:
            others = Others(read.form.name, now_us() // 1000 if before_ms is None else before_ms)
        batch, replaced = read.converted.batch, read.form.name if wanted.replace else None
        found = existing(self._runtime, org_id, batch, others, replaced)
        new = _new(batch, found)
        replacing = _replacing(batch, found)
        answer = _answer(read.form, wanted, read.converted, found, new, len(replacing))
        return answer, SortedEvents(batch.pick(new), replacing)

    def _read(self, sender: Sender, body: bytes, wanted: ImportOptions) -> ReadFile:
        settings = self._runtime.settings
        with self._ingest.unpacking():
            redactor = self._ingest.redactor(sender)
            encoding = "gzip" if body.startswith(_GZIP) else ""
            text = unpack(body, encoding, settings.ingest_max_unpacked_bytes)
            file = ImportFile(text, last_two_parts(wanted.path), wanted.started_us)
            target = ImportTarget(
                sender.org_id,
                wanted.environment,
                settings.ingest_max_event_bytes,
                settings.ingest_max_unpacked_bytes,
                StoredDecisions(self._runtime, self._rules, sender.org_id, wanted.dry_run),
                redactor,
                wanted.given,
            )
            form = format_of(file, wanted.format)
            return ReadFile(file, form, form.read(file, target), redactor)


def _new(batch: Batch, found: ExistingRows) -> list[int]:
    """Returns the positions of the events to add: each once, and none of a skipped session."""
    seen = set(found.ids)
    new = []
    for position, (event_id, session) in enumerate(zip(batch.ids, batch.session_ids, strict=True)):
        if event_id not in seen and session not in found.sessions:
            seen.add(event_id)
            new.append(position)
    return new


def _replacing(batch: Batch, found: ExistingRows) -> Batch:
    """Returns the events that replace stored ones, each once and with the arrival of the first."""
    places: dict[EventIdentity, int] = {}
    for place, key in enumerate(map(EventIdentity, batch.session_ids, batch.ts, batch.ids)):
        if key in found.arrivals and key.session_id not in found.sessions:
            places.setdefault(key, place)
    picked = batch.pick(list(places.values()))
    picked.arrivals = [found.arrivals[key] for key in places]
    return picked


def _answer(
    form: ImportFormat,
    wanted: ImportOptions,
    converted: Conversion,
    found: ExistingRows,
    new: list[int],
    replaced: int,
) -> ImportResult:
    batch = converted.batch
    events = Counter(batch.session_ids)
    accepted = Counter(batch.session_ids[position] for position in new)
    left_alone = sum(events[session] for session in found.sessions)
    shown = list(events.items())[:MAX_SESSIONS]
    return ImportResult(
        format=form.name,
        dry_run=wanted.dry_run,
        lines=converted.lines,
        events=len(batch),
        accepted=len(new),
        duplicate=len(batch) - left_alone - len(new) - replaced,
        skipped=converted.skipped,
        ignored=converted.ignored,
        held_back=converted.held_back,
        errors=converted.errors,
        sessions=[ImportedSession(name, count, accepted[name]) for name, count in shown],
        session_count=len(events),
        skipped_sessions=[SkippedSession(one, _ELSEWHERE) for one in sorted(found.sessions)],
        first_ts=format_us(min(batch.ts)) if batch.ts else None,
        last_ts=format_us(max(batch.ts)) if batch.ts else None,
        replaced=replaced,
    )
