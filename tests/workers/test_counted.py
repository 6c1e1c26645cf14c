"""The outcomes of workers are counted under names of the closed sets."""

from typing import get_args

import pytest

from shared.access.mail.claims import Forgotten
from shared.evaluation.evaluation_jobs.result import JobResult
from shared.evaluation.evaluation_jobs.rules import Deliver, Finish, Poll, Step
from shared.foundation.core.attempts import Again, Failed, Sent
from shared.foundation.core.errors import Unavailable
from shared.foundation.core.metrics.catalogue import (
    DELIVERIES,
    EVALUATION_OUTCOMES,
    MAILS,
    REFUSED,
    SQL_RUNS,
    UNPRICED,
)
from shared.foundation.core.metrics.kinds import OTHER
from shared.reading.prices.cost import Reason
from shared.reading.queries.results.reader import QueryCancelled
from workers.evaluation_jobs.dispatcher import outcome_name


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (Finish(JobResult(status="done")), "scored"),
        (Finish(JobResult(status="error")), "error"),
        (Finish(JobResult(status="timeout")), "timeout"),
        (Poll("1", 1.0), "pending"),
        (Deliver(1.0, "down"), "again"),
        (None, "late"),
    ],
)
def test_outcomes_of_evaluations(step: Step | None, name: str) -> None:
    assert EVALUATION_OUTCOMES.bounded(["host", outcome_name(step)]) == ["host", name]


@pytest.mark.parametrize("outcome", [Sent, Again, Failed, Forgotten])
def test_outcomes_of_deliveries_and_mails(outcome: type) -> None:
    name = outcome.__name__.lower()
    assert MAILS.bounded([name]) == [name]
    assert DELIVERIES.bounded(["slack", name]) == ["slack", name]


@pytest.mark.parametrize("reason", get_args(Reason))
def test_reasons_of_calls_without_a_cost(reason: str) -> None:
    assert UNPRICED.bounded([reason]) == [reason]


def test_codes_of_errors() -> None:
    assert SQL_RUNS.bounded([QueryCancelled.code]) == ["query_cancelled"]
    assert SQL_RUNS.bounded(["crashed"]) == [OTHER]
    assert REFUSED.bounded(["import", Unavailable.code]) == ["import", OTHER]
