"""The supervisor: one process type that runs every group of workers, and ends them."""

import json
from collections import Counter
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import psutil
import pytest

from shared.deployment.runtime import Runtime
from tests.support.processes import running, wait_until
from workers.groups import GROUPS

pytestmark = pytest.mark.flow


def said(log: Path) -> Counter[str]:
    """Returns how often the processes logged each event. Every line has to be a log line."""
    return Counter(json.loads(line)["event"] for line in log.read_bytes().splitlines())


@pytest.mark.parametrize("how", [SIGTERM, SIGINT, SIGKILL])
def test_every_process_ends_in_order_however_the_supervisor_ends(
    runtime: Runtime, tmp_path: Path, how: Signals
) -> None:
    log = tmp_path / "log"
    processes = sum(group.processes(runtime.settings) for group in GROUPS.values())
    with running("workers.supervisor", settings=runtime.settings, log=log) as supervisor:
        wait_until(lambda: log.exists() and said(log)["worker_started"] == processes)
        children = psutil.Process(supervisor.pid).children()
        supervisor.send_signal(how)
        assert supervisor.wait(120) == (-SIGKILL if how == SIGKILL else 0)
        wait_until(lambda: not any(child.is_running() for child in children))
    assert said(log)["worker_stopped"] == processes
    assert said(log)["worker_died"] == 0
