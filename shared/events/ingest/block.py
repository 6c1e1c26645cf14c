"""Blocks: decoded entries of several organizations, which one insert stores."""

from collections.abc import Collection
from dataclasses import dataclass, field

from shared.events.batch import Batch, decode_batch
from shared.events.ingest.stream import Entry

# One insert: large enough for few parts in ClickHouse, small enough for the worker's memory.
MAX_ROWS = 32_768
MAX_BYTES = 32 * 1024 * 1024


@dataclass
class Block:
    """Entries and their events; `unreadable` ones contain no batch of ours."""

    entries: list[Entry] = field(default_factory=list)
    batches: dict[str, Batch] = field(default_factory=dict)
    slugs: dict[str, str] = field(default_factory=dict)
    unreadable: list[Entry] = field(default_factory=list)
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

    def add(self, entry: Entry) -> None:
        """Decodes an entry and appends its events to those of its organization."""
        self.entries.append(entry)
        self.slugs[entry.org_id] = entry.org_slug
        try:
            batch = decode_batch(entry.data)
        except ValueError:
            self.unreadable.append(entry)
            return
        if entry.org_id in self.batches:
            self.batches[entry.org_id].extend(batch)
        else:
            self.batches[entry.org_id] = batch
        self.rows += len(batch)
        self.size += sum(map(len, batch.payloads))

    def keep_only(self, org_ids: Collection[str]) -> list[str]:
        """Removes the events of all other organizations; returns their ids.

        Their entries stay in the block, to be finished with the rest.
        """
        others = sorted({entry.org_id for entry in self.entries}.difference(org_ids))
        for org_id in others:
            batch = self.batches.pop(org_id, None)
            self.rows -= 0 if batch is None else len(batch)
        self.unreadable = [entry for entry in self.unreadable if entry.org_id in org_ids]
        return others
