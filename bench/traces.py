"""Measures the cost of traces: processor time of a request with traces off, and on.

    python -m bench.traces [--requests 1000] [--rounds 5]

Starts two deployments, one of which sends its traces to a receiver in this process, and asks both
in turn. Each line has the processor time of all processes of the service, stores left out, as the
median of the rounds. A round's difference is between neighbours in time, so other work of the
machine counts for both.
"""

import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import psutil

# Lets `python bench/traces.py` find its neighbours, as `python -m bench.traces` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed, service_processes
from bench.figures import figures_of, lines_of
from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment

# Spans that wait are sent, and events stored, before a measurement ends.
_SETTLE_SECS = 6.0


@dataclass(frozen=True)
class Kind:
    """A kind of request."""

    name: str
    method: str
    path: str
    has_event: bool = False


KINDS = (
    Kind("introspect", "GET", "/v1/auth/introspect"),
    Kind("sessions", "GET", "/v1/sessions?limit=20"),
    Kind("one_event", "POST", "/v1/events", has_event=True),
)


class _Taken(BaseHTTPRequestHandler):
    """Takes an export and forgets it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base's name
        """Logs nothing."""


@contextmanager
def receiver() -> Iterator[str]:
    """Runs a receiver of OTLP over HTTP; yields its URL."""
    with ThreadingHTTPServer((LOOPBACK, 0), _Taken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_port}"
        server.shutdown()


class Side:
    """One of the two deployments, with its processes."""

    def __init__(self, deployment: Deployment, pids: set[int]) -> None:
        self._deployment = deployment
        self._processes = [psutil.Process(pid) for pid in pids]
        self._sent = 0

    def cost(self, kind: Kind, requests: int) -> float:
        """Returns the processor time of a request in microseconds."""
        before = self._seconds()
        connection = HTTPConnection(LOOPBACK, int(self._deployment.environ["PORT"]))
        headers = {
            "Authorization": f"Bearer {self._deployment.admin_key}",
            "Content-Type": "application/x-ndjson",
        }
        for _ in range(requests):
            body = self._event() if kind.has_event else None
            connection.request(kind.method, kind.path, body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 300:
                raise SystemExit(f"{kind.name} answered {answer.status}")
        connection.close()
        time.sleep(_SETTLE_SECS)
        return (self._seconds() - before) / requests * 1e6

    def _event(self) -> bytes:
        self._sent += 1
        fields = {"timestamp": "2026-11-02T10:00:00Z", "session_id": f"s{self._sent % 20}"}
        return json.dumps({**fields, "type": "tool_use", "n": self._sent}).encode()

    def _seconds(self) -> float:
        times = [process.cpu_times() for process in self._processes]
        return float(sum(one.user + one.system for one in times))


def measure(requests: int = 1000, rounds: int = 5) -> dict[str, float]:
    """Returns the µs of a request with traces off and on, and the median of the differences."""
    values: dict[str, float] = {}
    with ExitStack() as stack:
        url = stack.enter_context(receiver())
        sides = []
        # An empty variable counts as unset.
        for endpoint in ("", url):
            before = set(service_processes())
            made = stack.enter_context(
                deployed(lambda _line: None, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
            )
            sides.append(Side(made, set(service_processes()) - before))
        for kind in KINDS:
            for side in sides:
                side.cost(kind, requests // 10)
            pairs = [tuple(side.cost(kind, requests) for side in sides) for _ in range(rounds)]
            off, on = (statistics.median(times) for times in zip(*pairs, strict=True))
            values |= {
                f"traces.{kind.name}_off": off,
                f"traces.{kind.name}_on": on,
                f"traces.{kind.name}_more": statistics.median(on - off for off, on in pairs),
            }
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--requests", default=1000, show_default=True, help="requests of a measurement")
@click.option("--rounds", default=5, show_default=True, help="measurements of each kind and side")
def main(requests: int, rounds: int) -> None:
    for line in lines_of(figures_of(measure(requests, rounds))):
        click.echo(line)


if __name__ == "__main__":
    main()
