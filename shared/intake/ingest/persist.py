"""Stores one block: inserts it, bisects a refused one, and records the sessions to watch."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from shared.access import organizations
from shared.evaluation.evaluation_jobs.watching import QUIET_SECS, StoredSession, watch
from shared.evaluation.runs import watching as runs
from shared.foundation.core.errors import WatchpostError
from shared.foundation.core.ids import parse_uuid
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import UNPRICED
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import after_commit
from shared.foundation.queue.jobs import CHECK_WATCHED_SESSIONS, TRIGGER_RUNS
from shared.intake.ingest import dead_letters, store
from shared.intake.ingest.batch import Batch, encode_batch
from shared.intake.ingest.block import IngestBlock
from shared.intake.ingest.dimensions import OmittedValues
from shared.intake.ingest.rows import Columns, append_columns
from shared.intake.ingest.rules import IngestRules
from shared.intake.ingest.store import RowsRefused
from shared.reading.dimensions.left_out import count as count_left_out
from shared.reading.evaluations import store as evaluations
from shared.reading.sessions import deleted

log = get_logger(__name__)

# Maps an organization to its rules.
Rules = Mapping[str, IngestRules]
# Returns the rules of some organizations, as `IngestRulesCache` does.
RulesLookup = Callable[[Collection[str]], Rules]

# ClickHouse refuses an insert into more than 100 partitions, and a partition is a month.
MAX_MONTHS = 90
_MONTH_US = 28 * 24 * 3600 * 1_000_000


def persist(runtime: Runtime, block: IngestBlock, rules_of: RulesLookup) -> None:
    """Returns once ClickHouse has all events and results of the block, and PostgreSQL its sessions.

    Events that ClickHouse refuses become dead letters. Raises `Unavailable` if a store is down;
    storing the same block again later changes nothing. Drops events of organizations that were
    purged meanwhile, and of sessions that were deleted.
    """
    # Read only now, after the entries: a rule that was set before an event was sent applies to it.
    rules = rules_of({org_id for org_id, _ in block.all_batches})
    with runtime.postgres.transaction() as session:
        _drop_what_was_purged(session, block)
        _drop_what_was_deleted(session, block)
        left_out: dict[str, OmittedValues] = defaultdict(OmittedValues)
        for part in (*_parts(block), *_replacing(block)):
            _insert(runtime, block, part, rules, left_out)
        for org_id, values in left_out.items():
            count_left_out(runtime.redis, org_id, values, values.keys_full)
        evaluations.insert(runtime.clickhouse, block.evaluations)
        for entry in block.unreadable:
            reason = "the entry is not a batch of events"
            _bury(runtime, entry.org_id, entry.org_slug, entry.data, reason, entry.receipt)
        _watch(runtime, session, block)


class Part:
    """A piece of a block that fits into one insert: (organization, slug, batch) triples.

    `version`: that of its rows, if they replace stored ones.
    """

    def __init__(self, pieces: list[tuple[str, str, Batch]], version: int | None = None) -> None:
        self.pieces = pieces
        self.version = version

    def __len__(self) -> int:
        return sum(len(batch) for _, _, batch in self.pieces)

    def columns(self, rules: Rules, left_out: Mapping[str, OmittedValues]) -> Columns:
        """Returns the columns of all pieces, one below the other; see `columns_of`."""
        columns: Columns = defaultdict(list)
        for org_id, _, batch in self.pieces:
            append_columns(columns, org_id, batch, rules[org_id], left_out[org_id])
        if self.version is not None:
            columns["version"] += [self.version] * len(self)
        return columns

    def halves(self) -> "tuple[Part, Part]":
        """Splits the rows into two parts."""
        middle, first, second = len(self) // 2, [], []
        for org_id, slug, batch in self.pieces:
            cut = min(max(middle, 0), len(batch))
            middle -= len(batch)
            if cut:
                first.append((org_id, slug, batch.slice(0, cut)))
            if cut < len(batch):
                second.append((org_id, slug, batch.slice(cut, len(batch))))
        return Part(first, self.version), Part(second, self.version)


def _drop_what_was_purged(session: Session, block: IngestBlock) -> None:
    """Drops events of purged organizations; locks the others against a purge."""
    parsed = {entry.org_id: parse_uuid(entry.org_id) for entry in block.entries}
    existing = organizations.hold(session, [one for one in parsed.values() if one is not None])
    gone = block.keep_only({org_id for org_id, one in parsed.items() if one in existing})
    if gone:
        log.warning("events_of_purged_orgs_dropped", org_ids=gone)


def _drop_what_was_deleted(session: Session, block: IngestBlock) -> None:
    """Drops events of deleted sessions. Their deletion waits for the organizations held here."""
    gone = deleted.among(session, block.sessions)
    if gone:
        dropped = block.leave_out(gone)
        deleted.count_dropped(session, dropped)
        log.warning("events_of_deleted_sessions_dropped", events=dropped.total())


def _parts(block: IngestBlock) -> Iterator[Part]:
    pieces = [
        (org_id, block.slugs[org_id], batch) for org_id, batch in block.batches.items() if batch.ids
    ]
    if not pieces:
        return
    oldest = min(min(batch.ts) for _, _, batch in pieces)
    newest = max(max(batch.ts) for _, _, batch in pieces)
    if (newest - oldest) // _MONTH_US < MAX_MONTHS:
        yield Part(pieces)
        return
    for org_id, slug, batch in pieces:
        for months in _month_groups(batch):
            yield Part([(org_id, slug, batch.pick(months))])


def _replacing(block: IngestBlock) -> Iterator[Part]:
    """Yields the events that replace stored ones, the older replacements first."""
    for (org_id, version), batch in sorted(block.replacements.items(), key=lambda one: one[0]):
        for months in _month_groups(batch):
            yield Part([(org_id, block.slugs[org_id], batch.pick(months))], version)


def _month_groups(batch: Batch) -> Iterator[list[int]]:
    """Yields the indexes of the rows, `MAX_MONTHS` calendar months at a time."""
    by_month: dict[tuple[int, int], list[int]] = {}
    for index, ts in enumerate(batch.ts):
        day = datetime.fromtimestamp(ts // 1_000_000, UTC)
        by_month.setdefault((day.year, day.month), []).append(index)
    months = list(by_month.values())
    for start in range(0, len(months), MAX_MONTHS):
        yield [index for month in months[start : start + MAX_MONTHS] for index in month]


def _insert(
    runtime: Runtime,
    block: IngestBlock,
    part: Part,
    rules: Rules,
    left_out: Mapping[str, OmittedValues],
) -> None:
    try:
        columns = _columns(part, rules, left_out)
        store.insert(runtime.clickhouse, columns)
    except RowsRefused as refusal:
        if len(part) == 1:
            [(org_id, slug, batch)] = part.pieces
            mark = block.receipt_of(org_id, batch.ids[0])
            data = encode_batch(batch)
            _bury(runtime, org_id, slug, data, str(refusal), mark)
            return
        for half in part.halves():
            # The values of both halves were counted already.
            _insert(runtime, block, half, rules, defaultdict(OmittedValues))
    else:
        reasons = Counter(map(str, filter(None, columns["unpriced_reason"])))
        for reason, calls in reasons.items():
            UNPRICED.add(calls, reason)


def _bury(
    runtime: Runtime, org_id: str, slug: str, data: bytes, reason: str, mark: str | None
) -> None:
    with runtime.redis.pipeline(transaction=True) as pipe:
        dead_letters.bury(pipe, org_id, slug, data, reason, mark)
        pipe.execute()


def _columns(part: Part, rules: Rules, left_out: Mapping[str, OmittedValues]) -> Columns:
    try:
        return part.columns(rules, left_out)
    except WatchpostError:
        raise
    except Exception as error:
        # If one odd event exposes a defect of ours, it may cost that event, but never the events
        # after it. The log has the traceback.
        log.exception("columns_not_made", events=len(part))
        raise RowsRefused(f"{type(error).__name__}: {error}") from error


def _watch(runtime: Runtime, session: Session, block: IngestBlock) -> None:
    """Reports sessions with new events, and with the end of an agent, to the evaluators."""
    stored = [
        StoredSession(
            UUID(org_id),
            block.slugs[org_id],
            session_id,
            has_agent_end=is_end,
            idle_only=(org_id, session_id) in block.idle_only,
        )
        for org_id, batch in block.batches.items()
        for session_id, is_end in {
            (session_id, event_type == "agent_end")
            for session_id, event_type in zip(batch.session_ids, batch.event_types, strict=True)
        }
    ]
    if runtime.settings.evaluator_endpoint is not None:
        watch(session, runtime.settings, stored)
        after_commit(session, lambda: runtime.queue.nudge_in(CHECK_WATCHED_SESSIONS, QUIET_SECS))
    if runs.watch(session, stored):
        after_commit(session, lambda: runtime.queue.nudge_in(TRIGGER_RUNS, QUIET_SECS))
