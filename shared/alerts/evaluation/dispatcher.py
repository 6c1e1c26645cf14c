"""Works through due rules: claim an organization's, evaluate them, record what came of it."""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from shared.alerts.evaluation import claims, jobs, recording, triggers
from shared.alerts.evaluation.claims import Batch
from shared.alerts.evaluation.evaluating import outcomes_of
from shared.alerts.evaluation.triggers.interface import Context, Evaluate, Outcome
from shared.core.errors import NotFound, Unavailable
from shared.core.logs import get_logger
from shared.deployment.runtime import Runtime
from shared.queries.run import Runner

log = get_logger(__name__)

# A thread returns to its queue after this long, so that a message never runs for hours.
TURN_SECS = 30.0
# Rules that a store was away for are left to others for so long.
STORE_RETRY_SECS = 5.0
_RENEW_EVERY_SECS = claims.LEASE_SECS / 4


class Dispatcher:
    """One thread's turn at the due rules; `stopping` ends it after what is being evaluated."""

    def __init__(
        self,
        runtime: Runtime,
        runner: Runner,
        stopping: threading.Event,
        *,
        evaluate: Evaluate = triggers.evaluate,
    ) -> None:
        self._runtime = runtime
        self._runner = runner
        self._stopping = stopping
        self._evaluate = evaluate

    def run(self, *, is_sql: bool) -> int:
        """Works until nothing is due, every place is taken or the turn is over; how many rules.

        Raises `Unavailable` when a store is away; the rules stay due.
        """
        task = jobs.EVALUATE_SQL_ALERTS if is_sql else jobs.EVALUATE_ALERTS
        began, evaluated, is_first = time.monotonic(), 0, True
        while not self._stopping.is_set():
            batch = claims.claim(self._runtime, is_sql=is_sql)
            if batch is None:
                break
            over = time.monotonic() - began > TURN_SECS
            if is_first or over:
                # Another thread looks whether there is more; on and on, until there is not.
                self._runtime.queue.nudge_soon(task)
            evaluated += self._handle(batch)
            is_first = False
            if over:
                break
        return evaluated

    def _handle(self, batch: Batch) -> int:
        started, outcomes = time.monotonic(), dict[uuid.UUID, Outcome]()
        context = Context(self._runtime, self._runner, str(batch.org_id))
        try:
            with self._kept(batch):
                for piece in outcomes_of(self._evaluate, context, batch, self._stopping.is_set):
                    outcomes.update(piece)
        except Unavailable:
            self._record(batch, outcomes, started, again_after_secs=STORE_RETRY_SECS)
            raise
        return self._record(batch, outcomes, started)

    def _record(
        self,
        batch: Batch,
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

    @contextmanager
    def _kept(self, batch: Batch) -> Iterator[None]:
        """Keeps the batch while the block runs, however long its statements take."""
        done = threading.Event()

        def renew() -> None:
            while not done.wait(_RENEW_EVERY_SECS):
                try:
                    with self._runtime.postgres.transaction() as session:
                        claims.renew(session, batch)
                except Unavailable:
                    # Others may take the rules meanwhile; what is recorded once stays recorded.
                    continue

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
