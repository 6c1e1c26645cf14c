"""Measures how soon /ready turns red and names the part that fails, and turns green again.

    python -m bench.canary [--interval 60] [--bound 90]

Starts a deployment with a second `web`, which only answers `/ready`. Each part of the pipeline is
killed, and later stopped so that it hangs, in both cases right after a canary came through: then
the next one is the longest away.

red     seconds until `/ready` is 503 and `broken` is the part
green   seconds until `/ready` is 200 and canaries come through, after the part was started again

Ends with an error if a part was never named or one of the times is above the bound.
"""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import click
import msgspec
import psutil

# Lets `python bench/canary.py` find its neighbours, as `python -m bench.canary` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from bench.site import Site
from devstack.ports import LOOPBACK, free_port
from devstack.server import Server
from devstack.up.programs import Program

Part = Server | Program

STOP, GO_ON = signal.SIGSTOP, signal.SIGCONT
_LOOK_SECS = 0.25
_STARTING_SECS = 120.0


@dataclass(frozen=True)
class Fault:
    """A part with a way to break it and the way to mend it again."""

    part: str
    what: str
    cause: Callable[[], None]
    end: Callable[[], None]


@dataclass(frozen=True)
class Measured:
    """Seconds, None if it did not happen within the bound. `others`: parts named before."""

    fault: Fault
    red: float | None
    green: float | None
    others: list[str]


class Ready:
    """The answers of `/ready` on a port."""

    def __init__(self, port: int) -> None:
        self._port = port

    def ask(self) -> tuple[int, dict[str, Any]]:
        """Returns the status and the checks; 0 and none without an answer."""
        connection = HTTPConnection(LOOPBACK, self._port, timeout=10)
        try:
            connection.request("GET", "/v1/ready")
            answer = connection.getresponse()
            checks: dict[str, Any] = msgspec.json.decode(answer.read())["checks"]
        except (OSError, HTTPException):
            return 0, {}
        else:
            return answer.status, checks
        finally:
            connection.close()

    def is_green(self) -> bool:
        """Returns whether all is well and canaries come through."""
        status, checks = self.ask()
        return status == 200 and (checks["canary"], checks["broken"]) == ("ok", None)

    def is_fresh(self) -> bool:
        """Returns whether a canary came through a moment ago."""
        status, checks = self.ask()
        return status == 200 and (checks["canary_age_secs"] or 0.0) < 2.0


def secs_until(holds: Callable[[], bool], most: float) -> float | None:
    """Returns the seconds until it holds; None if it does not within `most` seconds."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() > began + most:
            return None
        time.sleep(_LOOK_SECS)
    return time.monotonic() - began


def faults(site: Site, web: Program, ingest: Program) -> list[Fault]:
    """Returns what is done to each part."""
    stores = site.stack.redis, site.stack.clickhouse, site.stack.postgres
    parts: list[Part] = [*stores, ingest, web]
    killed = [Fault(one.name, "killed", one.kill, partial(restart, one)) for one in parts]
    hanging = [
        Fault(one.name, "hangs", partial(send, one, STOP), partial(send, one, GO_ON))
        for one in parts
    ]
    return killed + hanging


def restart(one: Part) -> None:
    """Starts a killed part again, a store until it answers."""
    one.start()
    if isinstance(one, Server):
        one.wait_ready()


def send(one: Part, what: signal.Signals) -> None:
    """Sends a signal to all processes of a part."""
    first = psutil.Process(one.pid)
    for process in [first, *first.children(recursive=True)]:
        os.kill(process.pid, what)


def measured(fault: Fault, ready: Ready, interval: float, bound: float) -> Measured:
    """Causes a fault and ends it; returns the seconds until `/ready` shows either."""
    if secs_until(ready.is_fresh, interval + _STARTING_SECS) is None:
        raise SystemExit(f"no canary comes through before {fault.part} is {fault.what}")
    others: list[str] = []

    def is_named() -> bool:
        status, checks = ready.ask()
        broken = checks.get("broken")
        if isinstance(broken, str) and broken not in (fault.part, *others):
            others.append(broken)
        return status == 503 and broken == fault.part

    fault.cause()
    try:
        red = secs_until(is_named, bound)
    finally:
        fault.end()
    return Measured(fault, red, secs_until(ready.is_green, bound), others)


def measure(interval: float = 60.0, bound: float = 90.0) -> dict[str, float]:
    """Returns the seconds to red and to green for each part and fault."""
    values: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder,
        Site(Path(folder)) as site,
    ):
        site.start_stores()
        site.environ |= {
            "CANARY_INTERVAL_SECS": f"{interval:g}",
            "CANARY_URL": f"http://{LOOPBACK}:{site.environ['PORT']}",
        }
        web, port = site.start_web(), free_port()
        site.start("web", "ready", PORT=str(port))
        ingest = site.start("ingest")
        ready = Ready(port)
        if secs_until(ready.is_green, _STARTING_SECS) is None:
            raise SystemExit(f"the deployment did not become ready; logs: {site.directory}")
        for fault in faults(site, web, ingest):
            one = measured(fault, ready, interval, bound)
            if one.others:
                click.echo(f"{fault.part} {fault.what}: named before: {', '.join(one.others)}")
            if one.red is None or one.green is None:
                raise SystemExit(f"{fault.part} {fault.what}: not shown, or not over, in time")
            values |= {
                f"canary.{fault.part}_{fault.what}_red": one.red,
                f"canary.{fault.part}_{fault.what}_green": one.green,
            }
    return values


@click.command(help=__doc__)
@click.option("--interval", default=60.0, show_default=True, help="CANARY_INTERVAL_SECS")
@click.option("--bound", default=90.0, show_default=True, help="the most seconds for either")
def main(interval: float, bound: float) -> None:
    """Prints the seconds."""
    for line in lines_of(figures_of(measure(interval, bound))):
        click.echo(line)


if __name__ == "__main__":
    main()
