"""/health and /ready."""

import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import Future, wait
from uuid import uuid4

import msgspec
import pytest
from sqlalchemy import text

from devstack import DevStack, StackUrls
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.stores import STORES
from shared.foundation.queue.consumer import announce, is_consumed
from shared.foundation.queue.waiting import EVENTS_ACTIVE, event_stream
from shared.intake.canary import passages
from shared.intake.canary.passages import Passage
from tests.support import evaluator as behave
from tests.support.databases import empty_databases
from tests.support.evaluator import running_evaluator
from tests.support.processes import running, wait_until
from tests.support.runtime import connected, make_org, migrated, settings_for
from web import evaluator_health, readiness
from web.app import create_app
from web.evaluator_health import EvaluatorHealthProbe

NOWHERE = {
    "postgres": {"database_url": "postgresql://watchpost@127.0.0.1:1/watchpost"},
    "clickhouse": {"clickhouse_url": "clickhouse://default@127.0.0.1:1/watchpost"},
    "redis": {"redis_url": "redis://127.0.0.1:1/0"},
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises the timeout, so that no store seems to hang on a slow machine."""
    monkeypatch.setattr(readiness, "TIMEOUT_SECS", 30)


@pytest.fixture(scope="module")
def urls(stack: DevStack) -> Iterator[StackUrls]:
    """Migrated databases without any waiting work."""
    with empty_databases(stack.urls) as made:
        migrated(settings_for(made))
        yield made


@pytest.fixture
def quiet(urls: StackUrls) -> Iterator[Runtime]:
    """Connections to them, with an evaluator for every organization."""
    with connected(settings_for(urls, evaluator_endpoint="http://127.0.0.1:1")) as runtime:
        runtime.redis.flushdb()
        announce(runtime.redis, "ingest")
        yield runtime
        runtime.redis.flushdb()


def ready(runtime: Runtime) -> tuple[int, dict[str, object]]:
    """Returns status and checks of an application on these connections."""
    response = create_app(runtime).test_client().get("/v1/ready")
    body = response.get_json()
    assert body.keys() == {"status", "checks"}
    assert body["status"] == ("ok" if response.status_code == 200 else "unavailable")
    assert ("Retry-After" in response.headers) is (response.status_code == 503)
    return response.status_code, body["checks"]


def test_health_asks_no_store() -> None:
    nowhere = StackUrls(
        NOWHERE["postgres"]["database_url"],
        NOWHERE["redis"]["redis_url"],
        NOWHERE["clickhouse"]["clickhouse_url"],
        NOWHERE["clickhouse"]["clickhouse_url"],
    )
    with connected(settings_for(nowhere)) as runtime:
        response = create_app(runtime).test_client().get("/v1/health")
        assert (response.status_code, response.get_json()) == (200, {"status": "ok"})
        assert ready(runtime) == (
            503,
            {
                "postgres": "down",
                "clickhouse": "down",
                "redis": "down",
                "ingest": "down",
                "evaluator": "disabled",
                "ingest_lag_secs": None,
                "oldest_job_secs": None,
                "canary": "disabled",
                "canary_age_secs": None,
                "canary_begins": None,
                "canary_groups_late": None,
                "broken": "redis",
            },
        )


def test_ready_when_nothing_waits(quiet: Runtime) -> None:
    assert ready(quiet) == (
        200,
        {
            "postgres": "ok",
            "clickhouse": "ok",
            "redis": "ok",
            "ingest": "ok",
            "evaluator": "down",
            "ingest_lag_secs": 0.0,
            "oldest_job_secs": 0.0,
            "canary": "disabled",
            "canary_age_secs": None,
            "canary_begins": None,
            "canary_groups_late": None,
            "broken": None,
        },
    )


def test_one_of_several_groups_brings_no_canary_through(quiet: Runtime) -> None:
    settings = msgspec.structs.replace(quiet.settings, canary_interval_secs=60)
    moment = passages.now(quiet.redis)
    for group, ago, part in (("late", 100, "clickhouse"), ("fine", 5, None)):
        passage = Passage(
            interval=60,
            since=0,
            came_at=moment - ago,
            said_at=moment,
            part=part,
            begins="web",
        )
        passages.say(quiet.redis, group, passage)
    with connected(settings) as runtime:
        status, checks = ready(runtime)
        assert (status, checks["canary"], checks["canary_groups_late"]) == (503, "down", 1)
        assert checks["broken"] == "clickhouse"
        passages.leave(quiet.redis, "late")
        status, checks = ready(runtime)
        assert (status, checks["canary"], checks["canary_groups_late"]) == (200, "ok", 0)


def test_no_worker_stores_events(quiet: Runtime) -> None:
    quiet.redis.flushdb()
    status, checks = ready(quiet)
    assert (status, checks["ingest"], checks["redis"]) == (503, "down", "ok")
    with running("workers.supervisor", "mail", settings=quiet.settings):
        wait_until(lambda: is_consumed(quiet.redis, "mail"))
        assert ready(quiet)[0] == 503
    with running("workers.supervisor", "ingest", settings=quiet.settings):
        wait_until(lambda: ready(quiet)[0] == 200)


@pytest.mark.parametrize("store", list(NOWHERE))
def test_a_store_that_is_down(urls: StackUrls, store: str) -> None:
    with connected(settings_for(urls, **NOWHERE[store])) as runtime:
        status, checks = ready(runtime)
    assert status == 503
    assert {name for name in NOWHERE if checks[name] == "down"} == {store}
    assert (checks["ingest_lag_secs"] is None) is (store == "redis")
    assert (checks["oldest_job_secs"] is None) is (store == "postgres")


def test_a_store_that_hangs_does_not_hang_the_answer(
    quiet: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    asked = []

    def hang(_runtime: Runtime) -> None:
        asked.append(threading.current_thread())
        answered.wait(120)

    def wait_for_one(answers: Collection[Future[float]], timeout: float) -> None:
        # The others have enough time. The hanging one has only its limit.
        while sum(not answer.done() for answer in answers) > 1:
            time.sleep(0.01)
        wait(answers, timeout)

    monkeypatch.setattr(readiness, "wait", wait_for_one)
    monkeypatch.setattr(readiness, "TIMEOUT_SECS", 0.3)
    monkeypatch.setattr(readiness, "STORES", {**STORES, "clickhouse": hang})
    client = create_app(quiet).test_client()
    for _ in range(3):
        began = time.monotonic()
        response = client.get("/v1/ready")
        assert time.monotonic() - began < 20
        assert response.status_code == 503
        assert response.get_json()["checks"]["clickhouse"] == "down"
        assert response.get_json()["checks"]["postgres"] == "ok"
    # However many requests come, one check runs.
    assert len(asked) == 1
    answered.set()
    asked[0].join()
    monkeypatch.setattr(readiness, "TIMEOUT_SECS", 30)
    assert client.get("/v1/ready").status_code == 200


def test_events_that_wait_for_too_long(quiet: Runtime) -> None:
    org = make_org(quiet)
    two_minutes_ago = int((time.time() - 120) * 1000)
    quiet.redis.xadd(event_stream(org.id), {"x": "y"}, id=f"{two_minutes_ago}-0")
    quiet.redis.sadd(EVENTS_ACTIVE, org.id)
    status, checks = ready(quiet)
    assert status == 503
    lag = checks["ingest_lag_secs"]
    assert isinstance(lag, float)
    assert 119 < lag < 180


def test_an_evaluation_that_is_due_for_too_long(quiet: Runtime) -> None:
    org, job_id = make_org(quiet), uuid4()
    with quiet.postgres.transaction() as session:
        session.execute(
            text(
                "INSERT INTO evaluation_jobs (id, org_id, session_id, agent_id, environment,"
                " trigger, request_id, enqueued_at, next_attempt_at) VALUES (:id, :org, 's', 'a',"
                " 'e', 'manual', 'r', now(), now() - interval '10 minutes')"
            ),
            {"id": job_id, "org": org.uuid},
        )
    status, checks = ready(quiet)
    assert status == 503
    oldest = checks["oldest_job_secs"]
    assert isinstance(oldest, float)
    assert 599 < oldest < 660
    with quiet.postgres.transaction() as session:
        session.execute(text("DELETE FROM evaluation_jobs"))
    assert ready(quiet)[0] == 200


ANSWERS = {
    "ok": behave.reply(200, {"status": "ok"}),
    "no content": behave.reply(204),
    "broken": behave.reply(500),
    "moved": behave.reply(302, headers={"Location": "/"}),
    "silent": behave.hang,
    "dripping": behave.drip_header,
    "garbage": behave.garbage,
    "gone": behave.close_at_once,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_evaluators_health_is_shown_and_never_a_reason_for_503(
    urls: StackUrls, name: str
) -> None:
    with running_evaluator() as evaluator:
        evaluator.default = ANSWERS[name]
        settings = settings_for(urls, evaluator_endpoint=f"{evaluator.url}/base/")
        with connected(settings) as runtime:
            # The evaluator drips without end, so only the limit ends the wait.
            state = EvaluatorHealthProbe(settings.evaluator_endpoint)
            first = state.start()
            assert first is not None
            wait([first], evaluator_health.TIMEOUT_SECS + 0.5)
            assert state.state() == ("ok" if name in ("ok", "no content") else "down")
            if name != "dripping":
                announce(runtime.redis, "ingest")
                status, checks = ready(runtime)
                assert (status, checks["evaluator"]) == (200, state.state())
        [request, *_] = evaluator.requests
        assert (request.method, request.path) == ("GET", "/base/health")
        assert "authorization" not in request.headers


def test_the_evaluator_is_asked_now_and_then(
    urls: StackUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        running_evaluator() as evaluator,
        connected(settings_for(urls, evaluator_endpoint=evaluator.url)) as runtime,
    ):
        client = create_app(runtime).test_client()

        def shown() -> object:
            return client.get("/v1/ready").get_json()["checks"]["evaluator"]

        assert [shown() for _ in range(5)] == ["ok"] * 5
        assert len(evaluator.requests) == 1
        evaluator.default = behave.reply(500)
        monkeypatch.setattr(evaluator_health, "INTERVAL_SECS", 0.0)
        # The previous answer shows until the next one arrives.
        wait_until(lambda: shown() == "down")
        assert len(evaluator.requests) > 1


def test_both_need_no_credential_and_take_any(quiet: Runtime) -> None:
    client = create_app(quiet).test_client()
    for path in ("/v1/health", "/v1/ready"):
        assert client.get(path, headers={"Authorization": "Bearer nonsense"}).status_code == 200
