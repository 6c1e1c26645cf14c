"""The breaker: while the evaluator is away, jobs wait behind it without using up attempts.

After `THRESHOLD` failed calls in a row none is made for a while, then one as a probe. A call that
succeeds closes it. Each evaluator has one: of an organization's the key is its id, of the
deployment's it is the endpoint.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Self
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import models
from shared.evaluation.evaluation_jobs.answers import AttemptFailure, Reading, Refusal
from shared.evaluation.evaluation_jobs.result import JobResult, error_text
from shared.evaluation.evaluation_jobs.scope import JobScope

THRESHOLD = 10
FIRST_WAIT_SECS, LONGEST_WAIT_SECS = 30.0, 600.0
# A job that waited behind the breaker for so long ends.
LONGEST_OUTAGE_SECS = 24 * 3600.0


class Breaker(NamedTuple):
    """The failed calls in a row: the first one at `since`, the newest with `last_error`.

    Every organization may read `last_error`, so it holds none of the evaluator's own words: these
    may quote a session.

    `retry_at` is the time of the next probe, None unless it is open. `probe_id` is the job that was
    called last as a probe.
    """

    failures: int = 0
    since: datetime | None = None
    last_error: str | None = None
    wait_secs: float = 0.0
    retry_at: datetime | None = None
    probe_id: UUID | None = None

    @property
    def is_open(self) -> bool:
        """Whether jobs wait for a probe."""
        return self.retry_at is not None

    @property
    def state(self) -> Literal["ok", "failing", "open"]:
        """The state in one word."""
        if self.is_open:
            return "open"
        return "failing" if self.failures else "ok"

    def after(self, job_id: UUID, reading: Reading, now: datetime) -> Self:
        """Returns the breaker after a call for a job."""
        failure = failure_of(reading)
        if failure is None:
            return type(self)()
        failed = self._replace(
            failures=self.failures + 1,
            since=self.since or now,
            last_error=error_text(failure.cause),
        )
        if failed.failures < THRESHOLD or (self.is_open and job_id != self.probe_id):
            # Of an open breaker, a call that began before it opened.
            return failed
        wait = min(self.wait_secs * 2, LONGEST_WAIT_SECS) if self.is_open else FIRST_WAIT_SECS
        named = getattr(failure, "retry_after_secs", None) or 0.0
        return failed._replace(
            wait_secs=wait, retry_at=now + timedelta(seconds=max(wait, named)), probe_id=None
        )

    def has_lasted_too_long(self, now: datetime) -> bool:
        """Returns whether jobs that have waited since it opened end."""
        return (
            self.is_open
            and self.since is not None
            and now - self.since >= timedelta(seconds=LONGEST_OUTAGE_SECS)
        )


def failure_of(reading: Reading) -> AttemptFailure | Refusal | None:
    """Returns the reading if the evaluator is the cause of a failure, and not the session."""
    if isinstance(reading, AttemptFailure) or (
        isinstance(reading, Refusal) and reading.is_everyones
    ):
        return reading
    return None


_ROW = """
SELECT failures, since, last_error, wait_secs, retry_at, probe_id
FROM evaluator_breakers WHERE key = :breaker
"""
_SOME = text("""
SELECT key, failures, since, last_error, wait_secs, retry_at, probe_id
FROM evaluator_breakers WHERE key = ANY(:keys)
""")
# The time of the next probe in other statements, null unless the breaker is open.
RETRY_AT = "(SELECT retry_at FROM evaluator_breakers WHERE key = :breaker)"

_READ, _LOCK = text(_ROW), text(f"{_ROW} FOR UPDATE")

_MAKE = text("INSERT INTO evaluator_breakers (key) VALUES (:breaker) ON CONFLICT DO NOTHING")

_SAVE = text("""
UPDATE evaluator_breakers
SET failures = :failures, since = :since, last_error = :last_error, wait_secs = :wait_secs,
    retry_at = :retry_at, probe_id = :probe_id
WHERE key = :breaker
""")

_PROBE = text("""
UPDATE evaluator_breakers
SET probe_id = :job_id, retry_at = statement_timestamp() + make_interval(secs => :secs)
WHERE key = :breaker AND retry_at IS NOT NULL
""")

_TRY_NOW = text("""
UPDATE evaluator_breakers SET retry_at = statement_timestamp()
WHERE key = :breaker AND retry_at > statement_timestamp()
""")

# Jobs under a lease end when its call does.
_END_JOBS = f"""
UPDATE {{table}} AS job
SET status = 'storing', result = :result, last_error = :error, completed_at = clock_timestamp(),
    attempt_count = greatest(attempt_count, 1)
FROM organizations AS org
WHERE org.id = job.org_id AND job.{models.CALLABLE}
    AND job.enqueued_at <= statement_timestamp() - make_interval(secs => :secs)
    AND job.lease_expires_at IS NULL
    AND {{jobs}}
"""


def current(session: Session, key: str) -> Breaker:
    """Returns the breaker of an evaluator."""
    row = session.execute(_READ, {"breaker": key}).one_or_none()
    return Breaker() if row is None else Breaker(*row)


def of_keys(session: Session, keys: Collection[str]) -> dict[str, Breaker]:
    """Returns the breakers of evaluators by their keys."""
    found = {row[0]: Breaker(*row[1:]) for row in session.execute(_SOME, {"keys": list(keys)})}
    return {key: found.get(key, Breaker()) for key in keys}


def lock(session: Session, key: str) -> Breaker:
    """Does the same, and lets no other transaction change it until this one ends."""
    session.execute(_MAKE, {"breaker": key})
    return Breaker(*session.execute(_LOCK, {"breaker": key}).one())


def save(session: Session, key: str, breaker: Breaker) -> None:
    """Stores the breaker, which is locked."""
    session.execute(_SAVE, {**breaker._asdict(), "breaker": key})


def begin_probe(session: Session, key: str, job_id: UUID, lease_secs: float) -> None:
    """Records that a job is called as a probe; another one is if its worker dies."""
    session.execute(_PROBE, {"job_id": job_id, "secs": lease_secs, "breaker": key})


def try_now(session: Session, key: str) -> None:
    """Has the next probe made at once: an operator may have mended the cause."""
    session.execute(_TRY_NOW, {"breaker": key})


def end_jobs(session: Session, breaker: Breaker, scope: JobScope) -> None:
    """Ends the jobs that have waited for `LONGEST_OUTAGE_SECS`."""
    hours = LONGEST_OUTAGE_SECS / 3600
    error = error_text(f"no answer of the evaluator for {hours:g} h: {breaker.last_error}")
    result = JobResult(status="error", error=error)
    session.execute(
        text(_END_JOBS.format(table=scope.table, jobs=scope.jobs)),
        {
            **scope.params,
            "result": result.packed(),
            "error": error,
            "secs": LONGEST_OUTAGE_SECS,
        },
    )
