"""Permission to call: the limit, the turns of organizations, and workers that never come back."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from shared.evaluation.evaluation_jobs import claims, outcomes
from shared.evaluation.evaluation_jobs.answers import Answer
from shared.evaluation.evaluation_jobs.claims import ClaimedJob
from shared.evaluation.evaluation_jobs.rules import Finish
from shared.evaluation.evaluation_jobs.scope import JobScope, default_scope
from tests.support import evaluator as behave
from tests.support.jobs import Bench
from tests.support.processes import wait_until
from tests.support.runtime import make_org
from workers.evaluation_jobs.client import default_client
from workers.evaluation_jobs.default_evaluator import DefaultEvaluator
from workers.evaluation_jobs.dispatcher import EvaluationDispatcher

RESULT = Answer(200, b'{"scores": {"a": 1}}')


@pytest.fixture
def other(bench: Bench) -> Iterator[Bench]:
    """A second organization with the same evaluator. The first bench works for both."""
    made = Bench(bench.runtime, make_org(bench.runtime), bench.evaluator)
    bench.configure(evaluator_orgs=f"{bench.org.slug},{made.org.slug}")
    yield made
    made.clean_up()


def take_all(bench: Bench, most: int = 100) -> list[ClaimedJob]:
    with bench.runtime.postgres.transaction() as session:
        return claims.claim(session, bench.runtime.settings, most=most)


def scope_of(session: Session, bench: Bench) -> JobScope:
    return default_scope(session, bench.runtime.settings)


def take(bench: Bench) -> ClaimedJob | None:
    return next(iter(take_all(bench, 1)), None)


def taken(bench: Bench) -> ClaimedJob:
    claim = take(bench)
    assert claim is not None
    return claim


def lease_secs(bench: Bench) -> float:
    return bench.runtime.settings.evaluator_request_timeout_ms / 1000 + 5


def test_never_more_calls_than_the_bound_over_all_workers(bench: Bench) -> None:
    bench.configure(
        evaluator_workers=1, evaluator_claim_batch=3, evaluator_request_timeout_ms=60_000
    )
    three = threading.Barrier(3)

    def answer(exchange: behave.Exchange) -> None:
        with bench.evaluator.in_flight(exchange.received):
            three.wait(30)
            # A fourth call would arrive now.
            bench.evaluator.stopping.wait(0.1)
        behave.scored()(exchange)

    bench.evaluator.default = answer
    bench.enqueue(*(f"s{number}" for number in range(12)))
    with ThreadPoolExecutor(8) as pool:
        handled = sum(pool.map(lambda _: bench.run(), range(8)))
    assert handled == 12
    assert bench.evaluator.most_in_flight == 3
    assert len(bench.results()) == 12
    assert len(bench.evaluator.requests) == 12


def test_polls_count_in_the_bound(bench: Bench) -> None:
    bench.configure(evaluator_workers=2, evaluator_claim_batch=1)
    bench.evaluator.default = behave.pending()
    bench.enqueue("a", "b", "c")
    bench.run()
    bench.sql("UPDATE evaluation_jobs SET next_attempt_at = now() WHERE org_id = :org_id")
    claimed = [take(bench) for _ in range(3)]
    assert [claim is not None and claim.row.evaluator_job_id == "job-1" for claim in claimed] == [
        True,
        True,
        False,
    ]


def test_a_hanging_call_delays_no_other_job(bench: Bench) -> None:
    bench.configure(evaluator_request_timeout_ms=60_000, evaluator_max_attempts=1)
    bench.evaluator.script = [behave.hang]
    bench.enqueue("stuck", "a", "b", "c")
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(bench.run) for _ in range(2)]
        try:
            wait_until(lambda: [job["status"] for job in bench.jobs()].count("storing") == 3)
            assert not all(run.done() for run in runs)
        finally:
            bench.evaluator.stopping.set()
        assert sum(run.result() for run in runs) == 4


def test_organizations_take_turns(bench: Bench, other: Bench) -> None:
    bench.enqueue(*(f"a{number}" for number in range(6)))
    other.enqueue("b0", "b1", "b2")
    slugs = f"{bench.org.slug},{other.org.slug}"
    bench.configure(evaluator_orgs=slugs, evaluator_workers=3, evaluator_claim_batch=3)
    claimed = [job.row.session_id[0] for size in (3, 2, 4) for job in take_all(bench, size)]
    assert "".join(claimed) in ("abababaaa", "bababaaaa")


def test_the_oldest_job_of_an_organization_goes_first(bench: Bench) -> None:
    for name in ("first", "second", "third"):
        bench.enqueue(name)
        bench.pass_time(1)
    order = [job.row.session_id for size in (2, 1) for job in take_all(bench, size)]
    assert order == ["first", "second", "third"]


def test_an_organization_that_may_not_evaluate_is_passed_over(bench: Bench, other: Bench) -> None:
    bench.enqueue("a")
    other.enqueue("b")
    bench.configure(evaluator_orgs=other.org.slug)
    bench.run()
    assert [request.session_id for request in bench.evaluator.requests] == ["b"]
    other.sql("UPDATE organizations SET deleted_at = now() WHERE id = :org_id")
    bench.configure(evaluator_orgs=f"{bench.org.slug},{other.org.slug}")
    other.sql("UPDATE evaluation_jobs SET status = 'pending' WHERE org_id = :org_id")
    bench.run()
    assert [request.session_id for request in bench.evaluator.requests] == ["b", "a"]


def test_a_claimed_job_is_exclusive_until_its_lease_expires(bench: Bench) -> None:
    bench.configure(evaluator_request_timeout_ms=60_000)
    bench.enqueue("s")
    first, taking = bench.timed(lambda: taken(bench))
    assert taking.planned(bench.job()["lease_expires_at"], 65)
    assert take(bench) is None
    bench.pass_time(45)
    assert take(bench) is None
    bench.pass_time(20)
    second = taken(bench)
    assert second.row.id == first.row.id
    assert second.lease.token != first.lease.token


def test_a_killed_workers_place_comes_back(bench: Bench) -> None:
    bench.configure(evaluator_workers=1, evaluator_claim_batch=1)
    bench.enqueue("a", "b")
    taken(bench)
    assert take(bench) is None
    bench.pass_time(lease_secs(bench) + 1)
    assert bench.run() == 2
    assert len(bench.results()) == 2


def test_a_late_answer_changes_nothing(bench: Bench) -> None:
    bench.enqueue("s")
    late = taken(bench)
    bench.pass_time(lease_secs(bench) + 1)
    bench.evaluator.default = behave.scored(fresh=1.0)
    bench.run()
    with bench.runtime.postgres.transaction() as session:
        assert outcomes.record(session, scope_of(session, bench), [(late, RESULT)]) == [None]
        claims.give_back(session, [late], after_secs=0)
        assert not claims.begin_deliveries(session, scope_of(session, bench), [late])
    assert bench.run_later() == 0
    assert bench.result().scores == {"fresh": 1.0}


def test_an_answer_after_the_lease_counts_while_the_job_is_free(bench: Bench) -> None:
    bench.enqueue("s")
    claim = taken(bench)
    bench.pass_time(60)
    with bench.runtime.postgres.transaction() as session:
        [step] = outcomes.record(session, scope_of(session, bench), [(claim, RESULT)])
    assert isinstance(step, Finish)
    assert take(bench) is None


def test_no_delivery_begins_after_its_lease(bench: Bench) -> None:
    bench.enqueue("s")
    claim = taken(bench)
    bench.pass_time(lease_secs(bench) + 1)
    with bench.runtime.postgres.transaction() as session:
        assert not claims.begin_deliveries(session, scope_of(session, bench), [claim])
    assert bench.job()["attempt_count"] == 0


def test_a_delivery_renews_its_lease(bench: Bench) -> None:
    def begin() -> set[UUID]:
        with bench.runtime.postgres.transaction() as session:
            return claims.begin_deliveries(session, scope_of(session, bench), [claim])

    bench.configure(evaluator_request_timeout_ms=60_000)
    bench.enqueue("s")
    claim = taken(bench)
    bench.pass_time(45)
    begun, beginning = bench.timed(begin)
    assert begun == {claim.row.id}
    assert beginning.planned(bench.job()["lease_expires_at"], 65)
    bench.pass_time(45)
    assert take(bench) is None
    assert bench.job()["attempt_count"] == 1


def test_claiming_stops_with_the_process(bench: Bench) -> None:
    bench.enqueue("s")
    stopping = threading.Event()
    stopping.set()
    client = default_client(bench.runtime.settings)
    assert (
        EvaluationDispatcher(bench.runtime, DefaultEvaluator(bench.runtime, client), stopping).run()
        == 0
    )
    client.close()
