"""Events that ClickHouse refuses: kept with the reason until an operator decides.

Each dead letter is a stream entry with one event, so that a retry or a drop concerns exactly the
inspected event.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis

from shared.foundation.core.errors import NotFound
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import BURIED
from shared.intake.ingest.batch import Batch, decode_batch
from shared.intake.ingest.receipts import dead_letter_of
from shared.intake.ingest.stream import append

log = get_logger(__name__)

STREAM_KEY = "ingest:dead"
_PAGE = 500


@dataclass(frozen=True)
class DeadLetter:
    """One event that could not be stored; `batch` is None if even its entry was unreadable."""

    id: str
    org_id: str
    org_slug: str
    reason: str
    data: bytes

    @property
    def batch(self) -> Batch | None:
        """Returns the event as a batch of one."""
        try:
            return decode_batch(self.data)
        except ValueError:
            return None


def bury(
    pipe: redis.Redis,
    org_id: str,
    org_slug: str,
    data: bytes,
    reason: str,
    mark: str | None = None,
) -> None:
    """Keeps an encoded batch of one event, or an unreadable entry, as a dead letter.

    It is counted in the row of the receipt with this mark. `pipe` may be a transaction.
    """
    fields: dict[Any, Any] = {
        "org_id": org_id,
        "slug": org_slug,
        "reason": reason[:2048],
        "data": data,
    }
    receipt = dead_letter_of(mark, reason)
    pipe.xadd(STREAM_KEY, fields)
    if receipt is not None:
        receipt.add_to(pipe, org_id)
    BURIED.add(1)
    log.error("events_set_aside", org=org_slug, reason=reason[:200])


def count(client: redis.Redis) -> int:
    """Counts the letters."""
    return int(client.xlen(STREAM_KEY))


def letters(client: redis.Redis, org_slug: str | None = None) -> Iterator[DeadLetter]:
    """Yields all letters, oldest first, of one organization or of all."""
    start = "-"
    while page := _range(client, start, "+", _PAGE):
        for entry_id, fields in page:
            letter = _letter(entry_id, fields)
            if org_slug is None or letter.org_slug == org_slug:
                yield letter
        start = f"({page[-1][0].decode()}"


def get(client: redis.Redis, letter_id: str) -> DeadLetter:
    """Returns one letter; raises `NotFound`."""
    try:
        found = _range(client, letter_id, letter_id, 1)
    except redis.ResponseError:
        found = []
    if not found:
        raise NotFound(f"there is no dead letter {letter_id}")
    return _letter(*found[0])


def retry(client: redis.Redis, letter: DeadLetter) -> None:
    """Appends the event to its organization's stream again.

    Raises `NotFound` for a letter whose entry could never be read: it can only be dropped.
    """
    batch = letter.batch
    if batch is None:
        raise NotFound(f"dead letter {letter.id} contains no readable event: drop it")
    # Appended first and deleted afterwards: in between the event exists twice, but is stored once.
    append(client, letter.org_id, letter.org_slug, batch)
    drop(client, letter)


def drop(client: redis.Redis, letter: DeadLetter) -> None:
    """Deletes the letter and its event for good."""
    client.xdel(STREAM_KEY, letter.id)


def drop_all(client: redis.Redis, org_id: str) -> int:
    """Deletes every letter of an organization for good; returns the number."""
    of_org = [letter.id for letter in letters(client) if letter.org_id == org_id]
    for start in range(0, len(of_org), _PAGE):
        client.xdel(STREAM_KEY, *of_org[start : start + _PAGE])
    return len(of_org)


def _range(
    client: redis.Redis, first: str, last: str, count: int
) -> list[tuple[bytes, dict[bytes, bytes]]]:
    # The client's types cover both of its decodings; ours returns bytes.
    return client.xrange(STREAM_KEY, min=first, max=last, count=count)  # type: ignore[return-value]


def _letter(entry_id: bytes, fields: dict[bytes, bytes]) -> DeadLetter:
    return DeadLetter(
        id=entry_id.decode(),
        org_id=fields[b"org_id"].decode(),
        org_slug=fields[b"slug"].decode(),
        reason=fields[b"reason"].decode(),
        data=fields[b"data"],
    )
