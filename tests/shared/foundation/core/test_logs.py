"""The log of a process, tested in separate processes."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.flow

PROGRAM = """
import logging
from redis.exceptions import ConnectionError
from shared.foundation.core.config import Settings
from shared.foundation.core.logs import configure_logging, get_logger, request_context

settings = Settings(
    database_url="postgresql://a", redis_url="redis://a", clickhouse_url="clickhouse://a",
    admin_key="the-admin-key-itself", log_format="{log_format}",
)
configure_logging(settings, "tried")
log = get_logger("tried.module")

def crash(secret):
    raise RuntimeError("what went wrong")

with request_context("0" * 32, org="acme"):
    log.info("happened", key="named-by-key", count=3)
    logging.getLogger("some.library").warning("a library says %s", "this")
    try:
        crash("passed-to-" + "a-function")
    except RuntimeError:
        log.exception("crashed", settings_name="x")
try:
    raise ConnectionError("connection refused")
except ConnectionError:
    logging.getLogger("dramatiq.worker.ConsumerThread").critical("a bug, report it", exc_info=True)
"""

TWO_WORKERS = """
import dramatiq
from shared.foundation.core.config import Settings
from shared.foundation.core.logs import configure_logging
from shared.foundation.queue.broker import RequestContext, make_broker

configure_logging(
    Settings(
        database_url="postgresql://a", redis_url="redis://127.0.0.1:1", clickhouse_url="clickhouse://a",
        admin_key="the-admin-key-itself", log_format="json",
    ),
    "tried",
)
broker = make_broker("redis://127.0.0.1:1")
for worker in (dramatiq.Worker(broker, queues=["a"]), dramatiq.Worker(broker, queues=["b"])):
    worker.start()
broker.add_middleware(RequestContext())
"""


def written(log_format: str) -> str:
    """Returns the log of the program above."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{log_format}", log_format)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == ""
    return done.stderr


def test_lines_are_json_with_their_request() -> None:
    ours, library, crashed, _ = (json.loads(line) for line in written("json").splitlines())
    assert (ours["event"], ours["count"], ours["org"]) == ("happened", 3, "acme")
    assert (ours["process"], ours["logger"], ours["level"]) == ("tried", "tried.module", "info")
    assert library["event"] == "a library says this"
    assert {line["request_id"] for line in (ours, library, crashed)} == {"0" * 32}
    assert crashed["exception"][0]["exc_value"] == "what went wrong"
    assert crashed["exception"][0]["frames"][-1]["name"] == "crash"


def test_a_redis_that_is_away_is_no_bug_of_the_queues() -> None:
    told = json.loads(written("json").splitlines()[-1])
    assert (told["event"], told["level"]) == ("redis_unavailable", "warning")
    assert told["reason"] == "ConnectionError"
    assert "exception" not in told


def test_workers_on_one_broker_are_no_warning() -> None:
    command = [sys.executable, "-c", TWO_WORKERS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    [line] = done.stderr.splitlines()
    assert "RequestContext" in line


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_secrets_stay_out_of_it(log_format: str) -> None:
    log = written(log_format)
    assert "what went wrong" in log
    for secret in ("named-by-key", "passed-to-a-function", "the-admin-key-itself"):
        assert secret not in log
