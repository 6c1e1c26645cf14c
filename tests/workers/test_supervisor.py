"""The supervisor: one process type that runs every group of workers, and ends them."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import msgspec
import psutil
import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.processes import running, wait_until
from workers.groups import GROUPS, processes_of

# Prints what a child would inherit besides the code, threads and open sockets, and whether
# PostgreSQL answered.
REHEARSED = """
import threading, psutil
from shared.foundation.core.config import load_settings
from workers import main
from workers.groups import GROUPS
runtime = main.prepare(load_settings(), tuple(GROUPS))
main.rehearse(runtime)
print(threading.active_count(), len(psutil.Process().net_connections("all")),
      runtime.postgres.engine.dialect.server_version_info is not None)
"""

pytestmark = pytest.mark.flow


def said(log: Path) -> Counter[str]:
    """Returns how often the processes logged each event. Every line has to be a log line."""
    return Counter(json.loads(line)["event"] for line in log.read_bytes().splitlines())


def started(log: Path) -> int:
    """Returns how many processes have started."""
    return said(log)["worker_started"] if log.exists() else 0


@pytest.mark.parametrize("how", [SIGTERM, SIGINT, SIGKILL])
def test_every_process_ends_in_order_however_the_supervisor_ends(
    runtime: Runtime, tmp_path: Path, how: Signals
) -> None:
    log = tmp_path / "log"
    processes = len(processes_of(tuple(GROUPS), runtime.settings))
    with running("workers.supervisor", settings=runtime.settings, log=log) as supervisor:
        wait_until(lambda: started(log) == processes)
        children = psutil.Process(supervisor.pid).children()
        supervisor.send_signal(how)
        assert supervisor.wait(120) == (-SIGKILL if how == SIGKILL else 0)
        wait_until(lambda: not any(child.is_running() for child in children))
    assert said(log)["worker_stopped"] == processes
    assert said(log)["worker_died"] == 0


def test_a_process_that_dies_is_started_again(runtime: Runtime, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running("workers.supervisor", "mail", settings=runtime.settings, log=log) as supervisor:
        wait_until(lambda: started(log) == 1)
        [child] = psutil.Process(supervisor.pid).children()
        child.kill()
        wait_until(lambda: started(log) == 2)
        supervisor.terminate()
        assert supervisor.wait(120) == 0
    died = [json.loads(line) for line in log.read_bytes().splitlines() if b"worker_died" in line]
    assert [(one["group"], one["exit_code"]) for one in died] == [("mail", -SIGKILL)]


def test_a_process_that_refuses_to_start_says_why(runtime: Runtime, tmp_path: Path) -> None:
    log = tmp_path / "log"
    settings = msgspec.structs.replace(runtime.settings, default_user_permissions="standart")
    with running("workers.supervisor", "mail", settings=settings, log=log):
        wait_until(lambda: log.exists() and said(log)["worker_died"] > 0)
    assert said(log)["worker_refused_to_start"] > 0


def rehearsed(urls: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", REHEARSED], env=urls, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


def test_nothing_is_connected_when_the_processes_are_forked(runtime: Runtime) -> None:
    """Two processes on one connection would read each other's answers."""
    settings = runtime.settings
    urls = {
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "CLICKHOUSE_URL": settings.clickhouse_url,
    }
    assert rehearsed(urls) == "1 0 True\n"


def test_the_processes_are_forked_while_the_stores_are_down() -> None:
    urls = {
        "DATABASE_URL": "postgresql://127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "CLICKHOUSE_URL": "clickhouse://127.0.0.1:1/none",
    }
    assert rehearsed(urls) == "1 0 False\n"


def test_groups_that_wait_share_a_process_and_groups_that_compute_do_not(runtime: Runtime) -> None:
    every = tuple(GROUPS)
    processes = processes_of(every, runtime.settings)
    assert {group for groups in processes for group in groups} == set(every)
    assert [groups for groups in processes if len(groups) > 1] == [
        ("background", "mail", "alerts", "notifications", "assistant")
    ]
    assert processes.count(("ingest",)) == runtime.settings.ingest_processes
    for group in every:
        assert set(processes_of((group,), runtime.settings)) == {(group,)}
