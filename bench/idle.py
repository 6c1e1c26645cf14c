"""Measures how long a deployment takes to start, and its cost while it has nothing to do.

    python -m bench.idle [--settle 60] [--sample 30]

Runs `bin/up --no-demo` with data of its own, everything included.

ready       seconds from the command until its line `ready`; with new data, and again with that data
readable    seconds from that line until an event that was posted then can be read
cpu         percent of one core, on average over `sample` seconds, `settle` seconds after the start
pss         MB of memory, where a page that n processes share counts as 1/n in each of them
mcp         the same of `web` alone, after all this, and again after its first request of MCP
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path

import click
import msgspec
import psutil

# Lets `python bench/idle.py` find its neighbours, as `python -m bench.idle` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from devstack.ports import LOOPBACK, free_port

PROJECT = Path(__file__).resolve().parents[1]

# A word of the command line of each program; everything else is the launcher.
_WORDS = {
    "bin/postgres": "postgres",
    "valkey": "redis",
    "clickhouse_child": "clickhouse",
    "gunicorn": "web",
    "workers.supervisor": "worker",
    "workers.clock": "clock",
    "otlp.grpc": "otlp-grpc",
    "evaluator.py": "evaluator",
}


@dataclass
class Use:
    """The processes of a program, the percent of a core they use, and their memory in MB."""

    processes: int = 0
    cpu: float = 0.0
    pss: float = 0.0


@contextmanager
def _running(folder: Path, port: int, key: str) -> Iterator[tuple[psutil.Process, float]]:
    """Yields the launcher, and the seconds until it printed `ready`."""
    given = {**os.environ, "DEVSTACK_DIR": str(folder), "PORT": str(port), "ADMIN_KEY": key}
    started = time.monotonic()
    launcher = subprocess.Popen(
        [PROJECT / "bin" / "up", "--no-demo"], env=given, stdout=subprocess.PIPE, text=True
    )
    try:
        for line in launcher.stdout or ():
            if line.startswith("ready "):
                break
        else:
            raise SystemExit("bin/up ended before it was ready")
        yield psutil.Process(launcher.pid), time.monotonic() - started
    finally:
        launcher.send_signal(signal.SIGINT)
        launcher.wait()


def _secs_until_readable(port: int, key: str) -> float:
    """Posts an event and returns the seconds until GET /v1/events shows it."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
    event = {"session_id": f"idle-{os.getpid()}", "timestamp": datetime.now(UTC), "type": "note"}
    connection = HTTPConnection(LOOPBACK, port)
    started = time.monotonic()
    connection.request("POST", "/v1/events", msgspec.json.encode(event), headers)
    answer = connection.getresponse()
    if answer.read() and answer.status != 202:
        raise SystemExit(f"POST /v1/events answered {answer.status}")
    while True:
        connection.request("GET", f"/v1/events?session_id={event['session_id']}", headers=headers)
        if msgspec.json.decode(connection.getresponse().read())["events"]:
            connection.close()
            return time.monotonic() - started
        time.sleep(0.01)


def _ask_mcp(port: int, key: str) -> None:
    """Asks for the tools of MCP, for which `web` loads its package."""
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    connection = HTTPConnection(LOOPBACK, port)
    connection.request("POST", "/mcp", msgspec.json.encode(message), headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200 or not msgspec.json.decode(body).get("result", {}).get("tools"):
        raise SystemExit(f"POST /mcp answered {answer.status}: {body!r}")


def _pss_of_web(launcher: psutil.Process) -> float:
    """Returns the memory of all processes of `web` in MB."""
    found = 0.0
    for process in launcher.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if _program(process) == "web":
                found += process.memory_full_info().pss / 1e6
    return found


def _program(process: psutil.Process) -> str:
    """Returns the program that the process belongs to, by the nearest parent that shows it."""
    for one in [process, *process.parents()]:
        line = " ".join(one.cmdline())
        for word, program in _WORDS.items():
            if word in line:
                return program
    return "launcher"


def _cpu_secs(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _sampled(launcher: psutil.Process, secs: float) -> dict[str, Use]:
    """Returns the use of each program over `secs` seconds."""
    before = {one: _cpu_secs(one) for one in [launcher, *launcher.children(recursive=True)]}
    began = time.monotonic()
    time.sleep(secs)
    lasted = time.monotonic() - began
    uses: dict[str, Use] = defaultdict(Use)
    for process in [launcher, *launcher.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            use = uses[_program(process)]
            use.processes += 1
            use.cpu += 100 * (_cpu_secs(process) - before.get(process, 0.0)) / lasted
            use.pss += process.memory_full_info().pss / 1e6
    return dict(sorted(uses.items()))


def measure(settle: float = 60.0, sample: float = 30.0) -> dict[str, float]:
    """Returns the start and the use of a deployment by figure; see `bench.figures`."""
    key = f"wpa_{os.urandom(16).hex()}"
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder:
        Path(folder).chmod(0o755)
        with _running(Path(folder), port, key) as (launcher, ready_secs):
            readable_secs = _secs_until_readable(port, key)
            time.sleep(settle)
            programs = _sampled(launcher, sample)
            web_before = _pss_of_web(launcher)
            _ask_mcp(port, key)
            web_after = _pss_of_web(launcher)
        with _running(Path(folder), port, key) as (_, again_secs):
            pass
    values = {
        "start.ready": ready_secs,
        "start.ready_again": again_secs,
        "start.readable": readable_secs,
        "idle.cpu": sum(use.cpu for use in programs.values()),
        "idle.pss": sum(use.pss for use in programs.values()),
        "mcp.web_before": web_before,
        "mcp.web_after": web_after,
    }
    for name, use in programs.items():
        values |= {
            f"idle.{name}_processes": use.processes,
            f"idle.{name}_cpu": use.cpu,
            f"idle.{name}_pss": use.pss,
        }
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--settle", default=60.0, show_default=True, help="seconds before the sample")
@click.option("--sample", default=30.0, show_default=True, help="seconds of the sample")
def main(settle: float, sample: float) -> None:
    for line in lines_of(figures_of(measure(settle, sample))):
        click.echo(line)


if __name__ == "__main__":
    main()
