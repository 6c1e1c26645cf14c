"""Works through due rules: claims those of an organization, evaluates and records them."""

import threading
import time
import uuid
from functools import partial

from shared.foundation.core.errors import NotFound, Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import RULES, RULES_SECS
from shared.foundation.core.tracing import spans
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres.leases import kept
from shared.foundation.queue import Task, jobs
from shared.foundation.queue.work_loop import claimed
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation import claims, recording
from shared.watch.alerts.evaluation.claims import RuleBatch
from shared.watch.alerts.evaluation.evaluating import outcomes_of
from shared.watch.alerts.evaluation.triggers import batch as triggers
from shared.watch.alerts.evaluation.triggers.interface import Evaluate, Outcome, RuleContext

log = get_logger(__name__)

# After an outage of a store, rules are left to other workers for this long.
STORE_RETRY_SECS = 5.0


class AlertDispatcher:
    """One thread's turn at the due rules; `stopping` ends it after the current evaluation."""

    def __init__(
        self,
        runtime: Runtime,
        runner: QueryRunner,
        stopping: threading.Event,
        *,
        evaluate: Evaluate = triggers.evaluate,
    ) -> None:
        self._runtime = runtime
        self._runner = runner
        self._stopping = stopping
        self._evaluate = evaluate

    def run(self, *, is_sql: bool) -> int:
        """Works until nothing is due, every place is taken or the turn is over.

        Returns the rule count.

        Raises `Unavailable` if a store is down; the rules stay due.
        """
        task = _task(is_sql=is_sql)
        claim = partial(claims.claim, self._runtime, is_sql=is_sql)
        batches = claimed(self._runtime.queue, task, claim, self._stopping)
        return sum(map(self._handle, batches))

    def _handle(self, batch: RuleBatch) -> int:
        org = {spans.ORGANIZATION: str(batch.org_id)}
        with spans.work(_task(is_sql=batch.is_sql).actor, attributes=org):
            return self._work_on(batch)

    def _work_on(self, batch: RuleBatch) -> int:
        started, outcomes = time.monotonic(), dict[uuid.UUID, Outcome]()
        context = RuleContext(self._runtime, self._runner, str(batch.org_id))
        try:
            with kept(self._runtime.postgres, batch.lease, claims.LEASE_SECS):
                for piece in outcomes_of(self._evaluate, context, batch, self._stopping.is_set):
                    outcomes.update(piece)
        except Unavailable:
            self._record(batch, outcomes, started, again_after_secs=STORE_RETRY_SECS)
            raise
        return self._record(batch, outcomes, started)

    def _record(
        self,
        batch: RuleBatch,
        outcomes: dict[uuid.UUID, Outcome],
        started: float,
        *,
        again_after_secs: float = 0.0,
    ) -> int:
        evaluated_ms = round((time.monotonic() - started) * 1000)
        recorded = 0
        try:
            with self._runtime.postgres.transaction() as session:
                recorded = recording.record(
                    session, self._runtime, batch, outcomes, again_after_secs=again_after_secs
                )
        except NotFound as error:
            # The organization is gone, and its rules with it.
            log.info("alerts_not_recorded", org_id=str(batch.org_id), reason=error.message)
        kind = "sql" if batch.is_sql else "together"
        RULES.add(recorded, kind)
        RULES_SECS.observe(evaluated_ms / 1000, kind)
        log.info(
            "alerts_evaluated",
            org_id=str(batch.org_id),
            is_sql=batch.is_sql,
            rules=len(batch.rules),
            recorded=recorded,
            evaluated_ms=evaluated_ms,
            ms=round((time.monotonic() - started) * 1000),
        )
        return recorded


def _task(*, is_sql: bool) -> Task:
    return jobs.EVALUATE_SQL_ALERTS if is_sql else jobs.EVALUATE_ALERTS
