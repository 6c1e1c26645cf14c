"""The recent work of evaluators and their health: the part of their rows that is not written."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.breaker import Breaker
from shared.evaluation.evaluation_jobs.models import EvaluatorBreaker
from shared.evaluation.evaluation_jobs.run_models import EvaluatorMonth
from shared.evaluation.evaluation_jobs.scope import breaker_key
from shared.evaluation.evaluators.builtins import OTLP_KIND
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion, EvaluatorWorker
from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.clickhouse.where import Where, moment, us
from shared.foundation.core.clock import from_us, now, to_us
from shared.foundation.core.config import Settings

HealthState = Literal["ok", "failing", "open", "no_worker", "stopped"]

# Without a worker that has its version for so long, runs of a pull evaluator wait in vain.
WORKER_SECS = 60


class HealthOfEvaluator(NamedTuple):
    """Whether runs get their answers; `since` and `failures` are of the failures in a row."""

    state: HealthState = "ok"
    since: datetime | None = None
    failures: int = 0
    last_error: str | None = None
    retry_at: datetime | None = None


class MonthOfEvaluator(NamedTuple):
    """The use that counts for the budget, since the calendar month began in UTC."""

    since: datetime
    evaluations: int = 0
    tokens: int = 0
    usd: float = 0.0


class DayOfEvaluator(NamedTuple):
    """The ends of runs in the last 24 hours."""

    done: int = 0
    error: int = 0
    timeout: int = 0
    skipped: int = 0


class EvaluatorActivity(NamedTuple):
    """The recent work of an evaluator."""

    month: MonthOfEvaluator
    last_24h: DayOfEvaluator = DayOfEvaluator()
    last_result_at: datetime | None = None


class VersionActivity(NamedTuple):
    """The evaluations of a version."""

    evaluations: int = 0
    first_result_at: datetime | None = None
    last_result_at: datetime | None = None


def month_start(at: datetime) -> datetime:
    """Returns the moment at which the calendar month began in UTC."""
    return at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def health_of(
    session: Session, settings: Settings, evaluators: Iterable[Evaluator]
) -> dict[str, HealthOfEvaluator]:
    """Returns the health of these evaluators of one organization, by key."""
    listed = list(evaluators)
    seen = _last_seen(session, [one for one in listed if one.kind == "pull"])
    breakers = _breakers(session, [_breaker_key(settings, one) for one in listed])
    return {one.key: _health(settings, one, breakers, seen.get(one.key)) for one in listed}


def months_of(session: Session, evaluators: Iterable[Evaluator]) -> dict[str, MonthOfEvaluator]:
    """Returns what these evaluators of one organization used in this month, by key.

    Only own evaluators have budgets, so the built-in ones are left out.
    """
    own = {one.id: one for one in evaluators if one.id is not None}
    began = month_start(now())
    found = {one.key: MonthOfEvaluator(began) for one in own.values()}
    if own:
        org_id = next(iter(own.values())).org_id
        rows = select(EvaluatorMonth).where(
            EvaluatorMonth.org_id == org_id,
            EvaluatorMonth.evaluator_id.in_(own),
            EvaluatorMonth.month == began.date(),
        )
        for row in session.scalars(rows):
            counts = row.evaluations, row.tokens, float(row.usd)
            found[own[row.evaluator_id].key] = MonthOfEvaluator(began, *counts)
    return found


def activity_of(
    clickhouse: ClickHouse,
    org_id: str,
    evaluators: Iterable[Evaluator],
    months: Mapping[str, MonthOfEvaluator],
) -> dict[str, EvaluatorActivity]:
    """Returns what these evaluators of one organization did, by key.

    `months` are those of `months_of`; a built-in one has its results instead. Raises `Unavailable`
    and `QueryTimeout`.
    """
    listed = list(evaluators)
    at = now()
    began = month_start(at)
    found: dict[str, EvaluatorActivity] = {}
    tables = {"evaluations" if one.id is None else "own_evaluations" for one in listed}
    for table in sorted(tables):
        found |= _read(clickhouse, org_id, table, began, at - timedelta(days=1))
    nothing = EvaluatorActivity(MonthOfEvaluator(began))
    return {
        one.key: found.get(one.key, nothing)._replace(month=months[one.key])
        if one.key in months
        else found.get(one.key, nothing)
        for one in listed
    }


def versions_of(
    clickhouse: ClickHouse, org_id: str, key: str, versions: Sequence[EvaluatorVersion]
) -> dict[str, VersionActivity]:
    """Returns the evaluations of versions of one evaluator, by the name of the version.

    Raises `Unavailable` and `QueryTimeout`.
    """
    if not versions:
        return {}
    where = Where(org_id).add("evaluator = {evaluator:String}", evaluator=key)
    rows = clickhouse.rows(
        "SELECT ifNull(evaluator_version, ''), count(),"
        f" {us('min(completed_at)')}, {us('max(completed_at)')}"
        f" FROM own_evaluations FINAL WHERE {where} GROUP BY evaluator_version",
        where.params,
        settings=PAGE,
    )
    found = {row[0]: VersionActivity(row[1], from_us(row[2]), from_us(row[3])) for row in rows}
    return {one.version: found.get(one.version, VersionActivity()) for one in versions}


def _read(
    clickhouse: ClickHouse, org_id: str, table: str, month: datetime, day: datetime
) -> dict[str, EvaluatorActivity]:
    last = clickhouse.rows(
        f"SELECT evaluator, {us('max(completed_at)')} FROM {table} WHERE {Where(org_id)}"
        " GROUP BY evaluator",
        Where(org_id).params,
        settings=PAGE,
    )
    counts = {row[0]: row[1:] for row in _counts(clickhouse, org_id, table, month, day)}
    found = {}
    for name, at in last:
        in_month, in_day = counts.get(name, ())[:1], counts.get(name, ())[1:]
        found[name] = EvaluatorActivity(
            MonthOfEvaluator(month, *in_month), DayOfEvaluator(*in_day), from_us(at)
        )
    return found


def _counts(
    clickhouse: ClickHouse, org_id: str, table: str, month: datetime, day: datetime
) -> list[Row]:
    """Returns the results of each evaluator in the month, and by status in the day."""
    # The months of own evaluators are in PostgreSQL.
    since = day if table == "own_evaluations" else min(month, day)
    where = Where(org_id).between("completed_at", since, None)
    where.params |= {"month": to_us(month), "day": to_us(day)}
    ends = ", ".join(
        f"countIf(completed_at >= {moment('day')} AND status = '{status}')"
        for status in ("done", "error", "timeout")
    )
    return clickhouse.rows(
        f"SELECT evaluator, countIf(completed_at >= {moment('month')}), {ends}"
        f" FROM {table} FINAL WHERE {where} GROUP BY evaluator",
        where.params,
        settings=PAGE,
    )


def _health(
    settings: Settings,
    evaluator: Evaluator,
    breakers: Mapping[str, Breaker],
    last_seen: datetime | None,
) -> HealthOfEvaluator:
    if evaluator.kind == OTLP_KIND:
        return HealthOfEvaluator()
    is_builtin = evaluator.id is None
    if not evaluator.enabled or (evaluator.active_version_id is None and not is_builtin):
        return HealthOfEvaluator("stopped")
    if evaluator.kind == "pull" and (
        last_seen is None or now() - last_seen > timedelta(seconds=WORKER_SECS)
    ):
        return HealthOfEvaluator("no_worker", since=last_seen)
    found = breakers.get(_breaker_key(settings, evaluator), Breaker())
    return HealthOfEvaluator(
        found.state, found.since, found.failures, found.last_error, found.retry_at
    )


def _breaker_key(settings: Settings, evaluator: Evaluator) -> str:
    return breaker_key(settings) if evaluator.id is None else str(evaluator.id)


def _breakers(session: Session, keys: Sequence[str]) -> dict[str, Breaker]:
    columns = [getattr(EvaluatorBreaker, name) for name in Breaker._fields]
    rows = select(EvaluatorBreaker.key, *columns).where(EvaluatorBreaker.key.in_(keys))
    return {row[0]: Breaker(*row[1:]) for row in session.execute(rows)}


def _last_seen(session: Session, evaluators: Sequence[Evaluator]) -> dict[str, datetime]:
    """Returns when a worker of the pool was last seen, by the key of the evaluator."""
    if not evaluators:
        return {}
    rows = (
        select(EvaluatorWorker.pool_id, func.max(EvaluatorWorker.last_seen_at))
        .where(EvaluatorWorker.org_id == evaluators[0].org_id)
        .group_by(EvaluatorWorker.pool_id)
    )
    by_pool = {row[0]: row[1] for row in session.execute(rows)}
    return {one.key: by_pool[one.pool_id] for one in evaluators if one.pool_id in by_pool}
