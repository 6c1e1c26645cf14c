"""A fresh organization whose rules are evaluated."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import (
    NotEvaluated,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.specs import Spec
from tests.support.runtime import Org

# Events of tests/support/events.py happen on this day.
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def runner(runtime: Runtime) -> Iterator[QueryRunner]:
    """One connection of the read-only user."""
    made = QueryRunner(runtime, pool_size=1)
    yield made
    made.close()


@pytest.fixture
def context(runtime: Runtime, runner: QueryRunner, org: Org) -> RuleContext:
    """The context of the test's own organization."""
    return RuleContext(runtime, runner, org.id)


def rule(spec: Spec, *, until: datetime = NOON, since: datetime | None = None) -> Rule:
    """A rule that is due at noon."""
    return Rule(uuid4(), spec, since, until)


def reading_of(context: RuleContext, spec: Spec, **moments: datetime) -> RuleReading:
    """Returns the reading of a rule with this spec."""
    one = rule(spec, **moments)
    outcome = evaluate(context, [one])[one.alert_id]
    assert isinstance(outcome, RuleReading), outcome
    return outcome


def refusal_of(context: RuleContext, spec: Spec) -> str:
    """Returns the reason why a rule with this spec is not evaluated."""
    one = rule(spec)
    outcome = evaluate(context, [one])[one.alert_id]
    assert isinstance(outcome, NotEvaluated), outcome
    return outcome.reason
