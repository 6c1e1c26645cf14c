"""Turns ends and idleness of sessions into runs, for each evaluator by itself.

Nothing is locked while ClickHouse is read, so the drains never wait for a query. What was read is
used only if nothing arrived meanwhile: otherwise the session is due again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.watching import QUIET_SECS
from shared.evaluation.evaluators.conditions.deciding import decide
from shared.evaluation.evaluators.conditions.parsing import parse
from shared.evaluation.runs import budgets, making
from shared.evaluation.runs.deciding import (
    ActiveEvaluator,
    RunHistory,
    SessionPause,
    Trigger,
    is_in_sample,
    may_rescore,
    next_idle_at,
    trigger_of,
)
from shared.evaluation.runs.making import NewRun
from shared.evaluation.runs.watching import ACTIVE
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.errors import QueryTimeout
from shared.foundation.core.logs import get_logger
from shared.foundation.core.tracing import spans
from shared.foundation.postgres import Postgres
from shared.foundation.queue.jobs import TRIGGER_RUNS
from shared.reading.sessions import coverage
from shared.reading.sessions import facts as session_facts
from shared.reading.sessions.coverage import Coverage
from shared.reading.sessions.facts import SessionFacts

BATCH = 200
# Sessions whose conditions took too long are looked at again after this time.
DELAY_SECS = 60

log = get_logger(__name__)

Key = tuple[UUID, str]


class OverdueSession(NamedTuple):
    """A row of `session_triggers` that was due at `now`, by PostgreSQL's clock."""

    org_id: UUID
    session_id: str
    last_arrival_at: datetime
    end_check_at: datetime | None
    idle_only: bool
    now: datetime

    @property
    def key(self) -> Key:
        """The key of the row."""
        return self.org_id, self.session_id


class TriggeredSession(NamedTuple):
    """The result of a look at a due session: its runs, and the moments of the next looks."""

    runs: list[NewRun]
    end_check_at: datetime | None
    idle_check_at: datetime | None


_DUE = text("""
SELECT t.org_id, t.session_id, t.last_arrival_at,
    CASE WHEN t.end_check_at <= statement_timestamp() THEN t.end_check_at END, t.idle_only,
    statement_timestamp()
FROM session_triggers AS t
JOIN organizations AS org ON org.id = t.org_id AND org.deleted_at IS NULL
WHERE t.end_check_at <= statement_timestamp() OR t.idle_check_at <= statement_timestamp()
ORDER BY least(t.end_check_at, t.idle_check_at)
LIMIT :batch
""")

_EVALUATORS = text(f"""
SELECT evaluator.id, evaluator.org_id, version.id, version.condition, enabled_since, sample,
    sample_seed, idle_secs, rescore, rescore_max, budget
FROM evaluators AS evaluator
JOIN evaluator_versions AS version ON version.id = evaluator.active_version_id
WHERE evaluator.org_id = ANY(CAST(:org_ids AS uuid[])) AND {ACTIVE}
ORDER BY evaluator.key
""")

_HISTORY = text("""
SELECT org_id, session_id, evaluator_id,
    count(*) FILTER (WHERE trigger IN ('agent_end', 'inactivity')), max(revision),
    bool_or(status IN ('pending', 'polling', 'storing'))
FROM evaluator_runs
JOIN unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]))
    AS due (org_id, session_id) USING (org_id, session_id)
GROUP BY org_id, session_id, evaluator_id
""")

# Rows that a drain is writing at this moment are skipped; they are due again later.
_LOCK = text("""
SELECT t.org_id, t.session_id
FROM session_triggers AS t
JOIN unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]),
            CAST(:arrivals AS timestamptz[]))
    AS seen (org_id, session_id, last_arrival_at) USING (org_id, session_id, last_arrival_at)
FOR UPDATE OF t SKIP LOCKED
""")

_SETTLE = text("""
UPDATE session_triggers AS t
SET waiting_since = NULL, end_check_at = seen.end_check_at, idle_check_at = seen.idle_check_at
FROM unnest(CAST(:org_ids AS uuid[]), CAST(:session_ids AS text[]), CAST(:ends AS timestamptz[]),
            CAST(:idles AS timestamptz[])) AS seen (org_id, session_id, end_check_at, idle_check_at)
WHERE t.org_id = seen.org_id AND t.session_id = seen.session_id
""")


def trigger_runs(postgres: Postgres, clickhouse: ClickHouse) -> int:
    """Makes the runs of sessions that ended or are idle; returns their number."""
    made = 0
    while True:
        with postgres.transaction() as session:
            due = [OverdueSession(*row) for row in session.execute(_DUE, {"batch": BATCH})]
            evaluators = _evaluators(session, {one.org_id for one in due})
            history = _history(session, due)
        if not due:
            return made
        with spans.work(TRIGGER_RUNS.actor):
            found = _triggered(clickhouse, due, evaluators, history)
            with postgres.transaction() as session:
                held = _lock(session, due)
                runs = [run for one in held for run in found[one.key].runs]
                made += len(making.make(session, budgets.within(session, runs)))
                _settle(session, [(one, found[one.key]) for one in held])
        if len(due) < BATCH or not held:
            return made


def _evaluators(session: Session, org_ids: Iterable[UUID]) -> Mapping[UUID, list[ActiveEvaluator]]:
    by_org: dict[UUID, list[ActiveEvaluator]] = defaultdict(list)
    for row in session.execute(_EVALUATORS, {"org_ids": [str(one) for one in org_ids]}):
        one = ActiveEvaluator(*row)
        by_org[one.org_id].append(one)
    return by_org


def _history(
    session: Session, due: Sequence[OverdueSession]
) -> Mapping[tuple[UUID, str, UUID], RunHistory]:
    rows = session.execute(_HISTORY, _keys(due))
    return {(row[0], row[1], row[2]): RunHistory(*row[3:]) for row in rows}


def _triggered(
    clickhouse: ClickHouse,
    due: Sequence[OverdueSession],
    evaluators: Mapping[UUID, list[ActiveEvaluator]],
    history: Mapping[tuple[UUID, str, UUID], RunHistory],
) -> dict[Key, TriggeredSession]:
    by_org: dict[UUID, list[OverdueSession]] = defaultdict(list)
    for one in due:
        by_org[one.org_id].append(one)
    found: dict[Key, TriggeredSession] = {}
    for org_id, sessions in by_org.items():
        try:
            found |= _of_organization(clickhouse, sessions, evaluators[org_id], history)
        except QueryTimeout:
            # A condition that takes too long delays its own organization alone.
            log.warning("triggers_delayed", org_id=str(org_id), sessions=len(sessions))
            found |= {one.key: _delayed(one) for one in sessions}
    return found


def _of_organization(
    clickhouse: ClickHouse,
    sessions: Sequence[OverdueSession],
    evaluators: list[ActiveEvaluator],
    history: Mapping[tuple[UUID, str, UUID], RunHistory],
) -> dict[Key, TriggeredSession]:
    org_id = str(sessions[0].org_id)
    ids = [one.session_id for one in sessions]
    facts = session_facts.fetch(clickhouse, org_id, ids)
    covered = coverage.of_sessions(clickhouse, org_id, list(facts.values()))
    found: dict[Key, TriggeredSession] = {}
    for one in sessions:
        known, events = facts.get(one.session_id), covered.get(one.session_id)
        found[one.key] = (
            TriggeredSession([], None, None)
            if known is None or events is None
            else _of_session(one, known, events, evaluators, history)
        )
    _apply_conditions(clickhouse, org_id, evaluators, sessions, found)
    return found


def _delayed(due: OverdueSession) -> TriggeredSession:
    """Returns that a session is looked at again, for the same reason."""
    later = due.now + timedelta(seconds=DELAY_SECS)
    return TriggeredSession([], later if due.end_check_at is not None else None, later)


def _of_session(
    due: OverdueSession,
    facts: SessionFacts,
    covered: Coverage,
    evaluators: list[ActiveEvaluator],
    history: Mapping[tuple[UUID, str, UUID], RunHistory],
) -> TriggeredSession:
    """Returns the runs that rescoring and sample allow; conditions are still to be asked."""
    ended_at = due.end_check_at if facts.ended_at is not None else None
    pause = SessionPause(due.last_arrival_at, ended_at, due.idle_only)
    soon = due.now + timedelta(seconds=QUIET_SECS)
    end_check_at, idle_check_at = None, next_idle_at(evaluators, pause, due.now)
    runs = []
    for one in evaluators:
        trigger: Trigger | None = trigger_of(one, pause, due.now)
        before = history.get((*due.key, one.id), RunHistory())
        if trigger is None or not may_rescore(one, trigger, before, covered.revision):
            continue
        if not is_in_sample(one, due.session_id):
            continue
        if before.is_live:
            # The trigger is kept until that run ends.
            if trigger == "agent_end":
                end_check_at = soon
            else:
                idle_check_at = soon
            continue
        runs.append(
            NewRun(
                due.org_id,
                due.session_id,
                facts.agent_id,
                facts.environment,
                one.id,
                one.version_id,
                trigger,
                covered,
            )
        )
    return TriggeredSession(runs, end_check_at, idle_check_at)


def _apply_conditions(
    clickhouse: ClickHouse,
    org_id: str,
    evaluators: list[ActiveEvaluator],
    sessions: Sequence[OverdueSession],
    found: dict[Key, TriggeredSession],
) -> None:
    """Takes out the runs of sessions to which an evaluator does not apply."""
    for evaluator in evaluators:
        if evaluator.condition is None:
            continue
        asked = [
            run.session_id
            for one in sessions
            for run in found[one.key].runs
            if run.evaluator_id == evaluator.id
        ]
        leaves = decide(clickhouse, org_id, asked, parse(evaluator.condition))
        left_out = {one for one in asked if leaves.get(one) is not None or one not in leaves}
        for one in sessions:
            if one.session_id in left_out:
                kept = [run for run in found[one.key].runs if run.evaluator_id != evaluator.id]
                found[one.key] = found[one.key]._replace(runs=kept)


def _lock(session: Session, due: Sequence[OverdueSession]) -> list[OverdueSession]:
    """Locks those sessions for which nothing arrived meanwhile, until the transaction ends."""
    wanted = {**_keys(due), "arrivals": [one.last_arrival_at for one in due]}
    held = {(row.org_id, row.session_id) for row in session.execute(_LOCK, wanted)}
    return [one for one in due if one.key in held]


def _settle(session: Session, held: Sequence[tuple[OverdueSession, TriggeredSession]]) -> None:
    if held:
        session.execute(
            _SETTLE,
            {
                **_keys([one for one, _ in held]),
                "ends": [found.end_check_at for _, found in held],
                "idles": [found.idle_check_at for _, found in held],
            },
        )


def _keys(due: Sequence[OverdueSession]) -> dict[str, object]:
    return {
        "org_ids": [str(one.org_id) for one in due],
        "session_ids": [one.session_id for one in due],
    }
