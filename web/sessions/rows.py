"""Sessions as JSON."""

from decimal import Decimal

from shared.evaluation.evaluation_jobs.state.decision import StateSince
from shared.evaluation.runs.state.reading import EvaluatorState
from shared.foundation.core.clock import format_optional_ts, format_us
from shared.reading.evaluations.records import DEFAULT
from shared.reading.sessions.listing import ListedSession
from shared.reading.sessions.summary import Summary
from web.evaluation_jobs.rows import job_row
from web.evaluations.rows import evaluation_row
from web.responses import row_of
from web.sessions.schemas import Session, SessionTotals


def session_row(session: ListedSession) -> dict[str, object]:
    """Returns the row of one session."""
    facts, totals, latest = session
    return row_of(
        Session,
        facts,
        totals,
        tags=list(totals.tags),
        cost_usd=_number(totals.cost_usd),
        reported_usd=_number(totals.reported_usd),
        computed_usd=_number(totals.computed_usd),
        agents=[agent._asdict() for agent in totals.agents],
        started_at=format_us(facts.started_at),
        last_event_at=format_us(facts.last_event_at),
        ended_at=None if facts.ended_at is None else format_us(facts.ended_at),
        latest_evaluation=None if latest is None else evaluation_row(latest),
    )


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def totals_body(found: Summary, score_key: str | None) -> dict[str, object]:
    """Returns the JSON body of the sums; `score_key` is the requested one."""
    starts = map(format_us, found.buckets.starts())
    points = [
        {
            "ts": ts,
            "sessions": point.sessions,
            "error_count": point.error_count,
            "tokens": point.input_tokens + point.output_tokens,
            "cost_usd": point.cost_usd,
            "score_avg": point.score_avg,
        }
        for ts, point in zip(starts, found.points, strict=True)
    ]
    total = found.total
    score = {"key": score_key, "count": total.score_count, "avg": total.score_avg}
    return row_of(
        SessionTotals,
        total,
        score=None if score_key is None else score,
        timeline={
            "bucket_unit": found.buckets.unit,
            "bucket_secs": found.buckets.secs,
            "points": points,
        },
    )


def state_row(state: StateSince) -> dict[str, object]:
    """Returns the state of a session's evaluation."""
    return {
        **state._asdict(),
        "job": None if state.job is None else job_row(state.job),
        "since": format_optional_ts(state.since),
    }


def default_state_row(session: ListedSession, state: StateSince) -> dict[str, object]:
    """Returns the same state as that of the evaluator `default`."""
    latest = session.latest_evaluation
    return {
        "evaluator": DEFAULT,
        "version": None,
        **state_row(state),
        "detail": None,
        "stale": False,
        "latest": None if latest is None else evaluation_row(latest),
    }


def run_state_row(state: EvaluatorState) -> dict[str, object]:
    """Returns the state of a session for one own evaluator."""
    latest = state.latest
    return {
        "evaluator": state.evaluator,
        "version": state.version,
        **state.reason._asdict(),
        "since": format_optional_ts(state.reason.since),
        "job": None if state.job is None else job_row(state.job),
        "stale": state.stale,
        "latest": None if latest is None else evaluation_row(latest, stale=state.stale),
    }
