"""The budgets of evaluators: what is left of a calendar month, in UTC."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs.result import JobResult
from shared.evaluation.runs.making import NewRun


class MonthlyUse(NamedTuple):
    """The use of an evaluator in the running month; `usd` are dollars."""

    evaluations: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)


# The rows are locked in the order of their key, so that two writers see each other's runs.
_MONTHS = text("""
SELECT evaluator.id, evaluator.budget, month.evaluations, month.tokens, month.usd
FROM evaluators AS evaluator
LEFT JOIN evaluator_months AS month ON month.evaluator_id = evaluator.id
    AND month.month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')
WHERE evaluator.id = ANY(CAST(:ids AS uuid[])) AND evaluator.budget IS NOT NULL
ORDER BY evaluator.id
FOR UPDATE OF evaluator
""")


_SPEND = text("""
INSERT INTO evaluator_months AS known (evaluator_id, month, org_id, tokens, usd)
SELECT id, date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC'), org_id, :tokens, :usd
FROM evaluators WHERE id = :id
ON CONFLICT (evaluator_id, month) DO UPDATE
SET tokens = known.tokens + excluded.tokens, usd = known.usd + excluded.usd
""")


def spend(session: Session, evaluator_id: UUID, results: Sequence[JobResult]) -> None:
    """Counts the tokens and the dollars that results of an evaluator report."""
    tokens = sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in results)
    usd = sum((Decimal(repr(one.cost_usd or 0)) for one in results), Decimal(0))
    if tokens or usd:
        session.execute(_SPEND, {"id": evaluator_id, "tokens": tokens, "usd": usd})


def within(session: Session, runs: Sequence[NewRun]) -> list[NewRun]:
    """Returns those of the runs for which the budgets of their evaluators have room.

    Holds the evaluators with a budget until the transaction ends.
    """
    left = _left(session, sorted({run.evaluator_id for run in runs}))
    taken: dict[UUID, int] = defaultdict(int)
    kept = []
    for run in runs:
        most = left.get(run.evaluator_id)
        if most is not None and taken[run.evaluator_id] >= most:
            continue
        taken[run.evaluator_id] += 1
        kept.append(run)
    return kept


def _left(session: Session, ids: Sequence[UUID]) -> Mapping[UUID, int]:
    """Returns how many more runs each evaluator with a budget may have this month."""
    if not ids:
        return {}
    rows = session.execute(_MONTHS, {"ids": [str(one) for one in ids]})
    return {
        row[0]: runs_left(row[1], MonthlyUse(row[2] or 0, row[3] or 0, row[4] or Decimal(0)))
        for row in rows
    }


def runs_left(budget: Mapping[str, float | None], used: MonthlyUse) -> int:
    """Returns how many runs may begin: none if the tokens or the dollars are spent."""
    for name in ("tokens", "usd"):
        most = budget.get(name)
        if most is not None and getattr(used, name) >= Decimal(str(most)):
            return 0
    most = budget.get("evaluations")
    return 2**31 if most is None else max(int(most) - used.evaluations, 0)
