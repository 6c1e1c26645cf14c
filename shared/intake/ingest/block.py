"""Blocks: decoded entries of several organizations, which one insert stores."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeVar

from shared.intake.ingest.batch import Batch, decode_batch
from shared.intake.ingest.stream import StreamEntry
from shared.reading.evaluations.records import Evaluation

# One insert: large enough for few parts in ClickHouse, small enough for the worker's memory.
MAX_ROWS = 32_768
MAX_BYTES = 32 * 1024 * 1024

_Key = TypeVar("_Key")


@dataclass
class IngestBlock:
    """Entries and their events; `unreadable` ones contain no batch of ours.

    `replacements`: the events of entries that replace stored ones, by organization and version.
    `idle_only`: the sessions of entries that say so, with their organizations. `evaluations`: the
    results that came with the entries.
    """

    entries: list[StreamEntry] = field(default_factory=list)
    batches: dict[str, Batch] = field(default_factory=dict)
    replacements: dict[tuple[str, int], Batch] = field(default_factory=dict)
    slugs: dict[str, str] = field(default_factory=dict)
    unreadable: list[StreamEntry] = field(default_factory=list)
    idle_only: set[tuple[str, str]] = field(default_factory=set)
    evaluations: list[Evaluation] = field(default_factory=list)
    rows: int = 0
    size: int = 0

    def __bool__(self) -> bool:
        return bool(self.entries)

    @property
    def is_full(self) -> bool:
        """Whether this is enough for one insert."""
        return self.rows >= MAX_ROWS or self.size >= MAX_BYTES

    @property
    def request_ids(self) -> list[str]:
        """The requests that brought the entries, in their order."""
        return list(dict.fromkeys(e.request_id for e in self.entries if e.request_id))

    @property
    def causes(self) -> list[str]:
        """The spans that brought the entries, as headers `traceparent`."""
        return [entry.traceparent for entry in self.entries if entry.traceparent]

    def add(self, entry: StreamEntry) -> None:
        """Decodes an entry and appends its events to those of its organization."""
        self.entries.append(entry)
        self.slugs[entry.org_id] = entry.org_slug
        try:
            batch = decode_batch(entry.data)
        except ValueError:
            self.unreadable.append(entry)
            return
        self.evaluations += entry.evaluations
        if entry.idle_only:
            self.idle_only.update((entry.org_id, one) for one in set(batch.session_ids))
        if entry.version is not None:
            self._add_to(self.replacements, (entry.org_id, entry.version), batch)
        else:
            self._add_to(self.batches, entry.org_id, batch)
        self.rows += len(batch)
        self.size += sum(map(len, batch.payloads))

    @staticmethod
    def _add_to(batches: dict[_Key, Batch], key: _Key, batch: Batch) -> None:
        if key in batches:
            batches[key].extend(batch)
        else:
            batches[key] = batch

    @property
    def all_batches(self) -> list[tuple[str, Batch]]:
        """The events of all entries, with their organizations."""
        copies = [(org_id, batch) for (org_id, _), batch in self.replacements.items()]
        return [*self.batches.items(), *copies]

    def receipt_of(self, org_id: str, event_id: int) -> str | None:
        """Returns the mark of the receipt of the entry that brought this event, if it has one."""
        for entry in self.entries:
            if (
                entry.org_id == org_id
                and entry not in self.unreadable
                and event_id in decode_batch(entry.data).ids
            ):
                return entry.receipt
        return None

    def keep_only(self, org_ids: Collection[str]) -> list[str]:
        """Removes the events of all other organizations; returns their ids.

        Their entries stay in the block, to be finished with the rest.
        """
        others = sorted({entry.org_id for entry in self.entries}.difference(org_ids))
        self.rows -= sum(len(batch) for org_id, batch in self.all_batches if org_id in others)
        for org_id in others:
            self.batches.pop(org_id, None)
        self.replacements = {
            key: batch for key, batch in self.replacements.items() if key[0] in org_ids
        }
        self.evaluations = [one for one in self.evaluations if one.org_id in org_ids]
        self.unreadable = [entry for entry in self.unreadable if entry.org_id in org_ids]
        return others

    @property
    def sessions(self) -> set[tuple[str, str]]:
        """The sessions of all events and results, with their organizations."""
        found = {
            (org_id, one) for org_id, batch in self.all_batches for one in set(batch.session_ids)
        }
        return found | {(one.org_id, one.session_id) for one in self.evaluations}

    def leave_out(self, sessions: Collection[tuple[str, str]]) -> Counter[tuple[str, str]]:
        """Removes the events and results of these sessions; counts the events by session."""
        dropped: Counter[tuple[str, str]] = Counter()
        org_ids = {org_id for org_id, _ in sessions}
        for org_id in org_ids & self.batches.keys():
            self.batches[org_id] = _without(org_id, self.batches[org_id], sessions, dropped)
        for org_id, version in self.replacements:
            if org_id in org_ids:
                batch = self.replacements[org_id, version]
                self.replacements[org_id, version] = _without(org_id, batch, sessions, dropped)
        self.rows -= dropped.total()
        self.evaluations = [
            one for one in self.evaluations if (one.org_id, one.session_id) not in sessions
        ]
        return dropped


def _without(
    org_id: str,
    batch: Batch,
    sessions: Collection[tuple[str, str]],
    dropped: Counter[tuple[str, str]],
) -> Batch:
    of_events = [(org_id, one) for one in batch.session_ids]
    dropped.update(one for one in of_events if one in sessions)
    return batch.pick([index for index, one in enumerate(of_events) if one not in sessions])
