"""Executes waiting runs one by one; many workers may do so at once."""

import threading
import uuid
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from shared.foundation.core.clock import now
from shared.foundation.core.errors import NotFound, Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger, request_context
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import RUN_AUDITS
from shared.foundation.queue.leased_step import Later, Lost, work
from shared.watch.audits.runs import claims, ending, looking, reporting
from shared.watch.audits.runs.claims import LEASE_SECS, MAX_ATTEMPTS, ClaimedRun
from shared.watch.audits.runs.report import Ask
from shared.watch.audits.signals import SIGNALS
from shared.watch.audits.signals.interface import Find, Look

log = get_logger(__name__)

# A run that takes longer is stuck: its lease ends, and another worker may try.
MAX_RUN_SECS = 3600.0
# The delay if a store is down, which uses up no attempt.
STORE_RETRY_SECS = 30.0
# A run that began this long ago ends instead: the next run of its audit covers more.
GIVE_UP_AFTER = timedelta(hours=6)


class AuditRunner:
    """One thread's turn at the waiting runs.

    `signals` run in this order, if the audit names them. `ask` calls the language model, None if
    there is none. `stopping` ends a turn after the current signal. `org_id` limits it to one
    organization.
    """

    def __init__(
        self,
        runtime: Runtime,
        stopping: threading.Event,
        *,
        ask: Ask | None = None,
        signals: Mapping[str, Find] = SIGNALS,
        org_id: uuid.UUID | None = None,
    ) -> None:
        self._runtime = runtime
        self._stopping = stopping
        self._ask = ask
        self._signals = signals
        self._org_id = org_id

    def run(self) -> int:
        """Works until no run waits or the turn is over; returns the number of runs."""
        claim = partial(claims.claim, client=self._runtime.redis, org_id=self._org_id)
        return work(
            self._runtime, RUN_AUDITS, claim, self._handle, self._stopping, LEASE_SECS, MAX_RUN_SECS
        )

    def _handle(self, run: ClaimedRun) -> None:
        ids = {"audit_id": str(run.row.audit_id), "run_id": str(run.row.id)}
        with request_context(run.row.request_id, **ids):
            log.info("audit_run_step", step=self._step(run), attempt=run.row.attempts)

    def _step(self, run: ClaimedRun) -> str:
        """Executes the run as far as possible; returns the outcome for the log."""
        try:
            return self._carry_out(run)
        except Later as later:
            self._give_back(run, after_secs=later.secs)
            return "interrupted"
        except Lost:
            # The rest of the lease expires, and the attempt counts: the run may have taken too
            # long, and would again.
            return "lost"
        except NotFound:
            # The organization was purged meanwhile, with all its data.
            return "lost"
        except Unavailable:
            return self._put_off(run)
        except WatchpostError as error:
            return self._end(run, error.message)
        except Exception:
            log.exception("audit_run_broke")
            return self._end(run, "the run ended with an unexpected error")

    def _carry_out(self, run: ClaimedRun) -> str:
        if run.row.attempts > MAX_ATTEMPTS:
            return self._end(run, f"no worker finished the run in {MAX_ATTEMPTS} attempts")
        if run.row.filed_at is None:
            look, signals = self._look(run)
            looked = looking.run_signals(look, signals, run.require_leave)
            if looked.is_blind:
                return self._end(run, "every signal failed", looked.stats)
            if ending.file(self._runtime, run, looked) is None:
                return "lost"
        report = reporting.written(self._runtime, run, self._ask)
        return "succeeded" if ending.succeed(self._runtime, run, report) else "lost"

    def _look(self, run: ClaimedRun) -> tuple[Look, Mapping[str, Find]]:
        """Returns the scope of the run and its signals."""
        with self._runtime.postgres.transaction() as session:
            audit = session.scalar(claims.audit_of(run))
        if audit is None:
            raise Lost
        look = Look(
            clickhouse=self._runtime.clickhouse,
            org_id=str(audit.org_id),
            window=claims.window_of(run.row),
            environments=tuple(audit.scope["environments"]),
            agent_ids=tuple(audit.scope["agent_ids"]),
            ignore_error_types=tuple(audit.ignore_error_types),
            sensitivity=audit.sensitivity,  # type: ignore[arg-type] # a constraint of the table
        )
        if look.window.start == look.window.stop:
            return look, {}
        wanted = audit.signals or self._signals
        return look, {name: self._signals[name] for name in self._signals if name in wanted}

    def _put_off(self, run: ClaimedRun) -> str:
        if now() - run.started_at > GIVE_UP_AFTER:
            return self._end(run, "a store was unavailable for too long")
        self._give_back(run, after_secs=STORE_RETRY_SECS)
        return "put_off"

    def _give_back(self, run: ClaimedRun, *, after_secs: float) -> None:
        with self._runtime.postgres.transaction() as session:
            claims.give_back(session, run, after_secs=after_secs)

    def _end(self, run: ClaimedRun, error: str, stats: Mapping[str, Any] | None = None) -> str:
        return "failed" if ending.fail(self._runtime, run, error, stats) else "lost"
