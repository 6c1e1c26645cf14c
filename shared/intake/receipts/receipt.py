"""Receipts of requests, appended to a log in Redis: one command in a write that is made anyway.

A tally maps names to numbers, which are added up; the largest counts for a name that begins with
`>`. Its names:

- those of `COUNTS`
- `>newest_event_us`; `>lag_ms` and `lag.<bucket>` (`lag`)
- `reason:<why something was not accepted or not stored, or was warned of>`
- of OpenTelemetry: `events`, `spans`, `model_calls`, `model_contents` (calls that had content),
  `session_conflicts`, `unmapped:<attribute>`
"""

from collections.abc import Iterable, Mapping

import msgspec
import redis
import xxhash

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.receipts.keys import ACTIVE, keys_of
from shared.intake.receipts.skipped import Skip, note

log = get_logger(__name__)

Tally = Mapping[str, int]

# The numbers of requests and of what they brought. `accepted` are events, of OpenTelemetry spans
# and log records; `requests` includes those that were refused.
COUNTS = (
    "requests",
    "accepted",
    "duplicate",
    "skipped",
    "not_stored",
    "dead_lettered",
    "refused",
    "warnings",
)
HOUR_US = 3_600_000_000
NEWEST = ">newest_event_us"
REASON = "reason:"
# More different reasons of one request are counted as `other`.
MAX_REASONS = 20


class Receipt(msgspec.Struct):
    """The content of one request in numbers: tallies by origin and service (`Origin.of`).

    `at_us` is the moment of its arrival. `digest` identifies the unpacked body: if it came within
    24 hours, the accepted ones are duplicates; "" for requests that count their duplicates
    themselves. `skips` are shown by GET /receipts/skipped.
    """

    at_us: int
    tallies: dict[str, dict[str, int]]
    digest: str = ""
    skips: tuple[tuple[str, Skip], ...] = ()

    @property
    def origin(self) -> str:
        """Returns the origin and service of the first tally."""
        return next(iter(self.tallies))

    @property
    def hour(self) -> int:
        """Returns the hour since the epoch in which it is counted."""
        return self.at_us // HOUR_US

    @property
    def mark(self) -> str:
        """Returns the text by which a worker counts the rest later (`receipt_of_mark`)."""
        return f"{self.at_us}\n{self.origin}"

    def add(self, tally: Tally) -> None:
        """Adds to the first tally."""
        add_up(self.tallies[self.origin], tally)

    def add_to(self, pipe: redis.Redis, org_id: str) -> None:
        """Adds the commands of the receipt to a pipeline."""
        pipe.rpush(keys_of(org_id).log, _encode((self.at_us, self.digest, self.tallies)))
        if self.skips:
            note(pipe, org_id, self.skips)


def add_up(into: dict[str, int], tally: Tally) -> None:
    """Adds the numbers of a tally to those of another one."""
    for name, n in tally.items():
        into[name] = max(into.get(name, n), n) if name[0] == ">" else into.get(name, 0) + n


def receipt_of_mark(mark: str) -> Receipt:
    """Returns an empty receipt for the row of the one with this mark."""
    at_us, _, origin = mark.partition("\n")
    return Receipt(int(at_us), {origin: {}})


def digest_of(unpacked: bytes) -> str:
    """Returns the digest of a body for `Receipt`."""
    return xxhash.xxh3_64_hexdigest(unpacked)


def reasons_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns the part of a tally for these reasons; `MAX_REASONS` of them have their own names."""
    tally: dict[str, int] = {}
    for reason, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        name = f"{REASON}{reason[:200]}" if len(tally) < MAX_REASONS - 1 else f"{REASON}other"
        tally[name] = tally.get(name, 0) + count
    return tally


def count(client: redis.Redis, receipts: Iterable[tuple[str, Receipt]]) -> None:
    """Counts receipts of organizations in a write of their own. Raises `Unavailable`."""
    org_ids = set()
    with unavailable_when_redis_is_gone(), client.pipeline(transaction=True) as pipe:
        for org_id, receipt in receipts:
            receipt.add_to(pipe, org_id)
            org_ids.add(org_id)
        if org_ids:
            pipe.sadd(ACTIVE, *org_ids)
            pipe.execute()


def count_if_possible(client: redis.Redis, receipts: Iterable[tuple[str, Receipt]]) -> None:
    """Does the same for receipts of no batch, which may not delay or refuse anything."""
    try:
        count(client, receipts)
    except Unavailable:
        log.warning("receipts_not_counted")


_encode = msgspec.msgpack.Encoder().encode
