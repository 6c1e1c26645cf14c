"""Measures how fast spans are accepted and become queryable, beside the same events.

    WATCHPOST_SHARED=/path/to/shared python -m bench.otlp [--requests 60] [--senders 4]

Starts its own deployment, as in the Procfile. Each request has copies of the recorded traces, about
500 spans. They are sent over HTTP (gzip), over gRPC, and then the events that they became are sent
to POST /v1/events, each way into empty tables.

accepted    spans or events ÷ (first request … last answer)
queryable   spans or events ÷ (first request … a query counts all events)
CPU         processor time of each program until then, in microseconds a span or event
"""

import gzip
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

import click
import grpc
from clickhouse_driver import Client

# Lets `python bench/otlp.py` find its neighbours, as `python -m bench.otlp` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.bodies import in_sessions
from bench.cost import processor_seconds
from bench.deployments import deployed
from bench.ingest import empty, poster_of, wait_until_counted
from bench.spans import recorded_traces, request_of, spans_in
from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment

COPIES = 17
_QUIET_SECS = 8.0
_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

_LATER = frozenset({429, 502, 503, 504})

# Sends one body; makes one for each thread.
Sender = Callable[[bytes], None]


@dataclass(frozen=True)
class Measured:
    """The rates of one way, a second, and its processor time by program, in µs."""

    accepted: float
    queryable: float
    cpu: dict[str, float]

    @property
    def cost(self) -> float:
        """The processor time of all programs but the senders."""
        return sum(micros for program, micros in self.cpu.items() if program != "senders")


def sender_to(url: str, headers: Mapping[str, str]) -> Sender:
    """Returns a sender of exports in gzip to this URL, over one connection."""
    to = urlsplit(url)
    connection = HTTPConnection(to.hostname or LOOPBACK, to.port, timeout=60)
    headers = {
        **headers,
        "Content-Type": "application/x-protobuf",
        "Content-Encoding": "gzip",
    }

    def send(body: bytes) -> None:
        while True:
            try:
                connection.request("POST", to.path, body, headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException):
                connection.close()
            else:
                if answer.status not in _LATER:
                    _require(answer.status == 200, f"POST {to.path} answered {answer.status}")
                    return
            time.sleep(1)

    return send


def http_sender(deployment: Deployment) -> Sender:
    """Returns a sender of exports over one connection."""
    headers = {"Authorization": f"Bearer {deployment.admin_key}"}
    return sender_to(f"{deployment.url}/v1/traces", headers)


def grpc_sender(deployment: Deployment) -> Sender:
    """Returns a sender of exports over gRPC."""
    export = grpc.insecure_channel(deployment.grpc_address).unary_unary(_EXPORT)
    metadata = [("authorization", f"Bearer {deployment.admin_key}")]

    def send(body: bytes) -> None:
        while True:
            try:
                export(body, metadata=metadata, timeout=60, compression=grpc.Compression.Gzip)
            except grpc.RpcError as error:
                code = error.code()
                _require(code is grpc.StatusCode.UNAVAILABLE, f"the export ended with {code}")
                time.sleep(1)
            else:
                return

    return send


def events_sender(deployment: Deployment) -> Sender:
    """Returns a sender of events over one connection."""
    poster = poster_of(deployment)

    def send(body: bytes) -> None:
        while (status := poster.post(body)[0]) == 503:
            time.sleep(1)
        _require(status == 202, f"POST /v1/events answered {status}")

    return send


def measure(
    deployment: Deployment,
    make: Callable[[Deployment], Sender],
    bodies: list[bytes],
    senders: int,
    things: int,
    events: int,
) -> Measured:
    """Sends all bodies, which have this many spans or events, until all events are counted."""
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    empty(clickhouse)
    before, started = processor_seconds(), time.perf_counter()
    send_all(lambda: make(deployment), bodies, senders)
    accepted = time.perf_counter() - started
    wait_until_counted(clickhouse, events)
    queryable, after = time.perf_counter() - started, processor_seconds()
    time.sleep(1)
    counted = clickhouse.execute("SELECT uniqExact(session_id, id) FROM events")[0][0]
    _require(counted == events, f"expected {events} events, found {counted}")
    clickhouse.disconnect()
    cpu = {name: (after[name] - before.get(name, 0)) / things * 1e6 for name in after}
    return Measured(things / accepted, things / queryable, cpu)


def send_all(make: Callable[[], Sender], bodies: list[bytes], senders: int) -> None:
    """Sends all bodies, each once, over so many connections at a time."""
    waiting: SimpleQueue[bytes] = SimpleQueue()
    for body in bodies:
        waiting.put(body)

    def run() -> None:
        send = make()
        while True:
            try:
                send(waiting.get_nowait())
            except Empty:
                return

    threads = [threading.Thread(target=run) for _ in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def events_of(deployment: Deployment, body: bytes) -> list[bytes]:
    """Sends one export, and returns the events that it becomes as POST /v1/events takes them."""
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    empty(clickhouse)
    http_sender(deployment)(body)
    rows: list[tuple[str]] = []
    since = time.monotonic()
    while time.monotonic() - since < _QUIET_SECS:
        time.sleep(0.5)
        found = clickhouse.execute("SELECT payload FROM events ORDER BY ts")
        if len(found) != len(rows):
            rows, since = found, time.monotonic()
    clickhouse.disconnect()
    return [payload.encode() for (payload,) in rows]


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise SystemExit(message)


def report(name: str, measured: Measured) -> None:
    """Prints one way."""
    cpu = sorted(measured.cpu.items(), key=lambda one: -one[1])
    own = [f"{program} {micros:.0f}" for program, micros in cpu if program != "senders"]
    click.echo(
        f"{name:14}{measured.accepted:>10,.0f} accepted/s {measured.queryable:>10,.0f} queryable/s"
        f"   CPU {measured.cost:.0f} µs: {', '.join(own)}"
    )


def measure_ways(requests: int, senders: int) -> dict[str, float]:
    """Sends the same agents in three ways, and prints and returns their rates and their costs."""
    recorded = recorded_traces()
    spans = len(list(spans_in(recorded))) * COPIES
    made = [
        request_of(recorded, COPIES, number).SerializeToString()
        for number in range(2 * requests + 1)
    ]
    # A canary is an event more.
    with deployed(CANARY_INTERVAL_SECS="0") as deployment:
        lines = events_of(deployment, gzip.compress(made[0]))
        events = len(lines) * requests
        click.echo(f"{requests} requests of {spans} spans, which are {len(lines)} events")
        first, second = made[1 : requests + 1], made[requests + 1 :]
        packed = list(map(gzip.compress, first))
        sizes = (spans * requests, events)
        over_http = measure(deployment, http_sender, packed, senders, *sizes)
        report("HTTP, spans", over_http)
        over_grpc = measure(deployment, grpc_sender, second, senders, *sizes)
        report("gRPC, spans", over_grpc)
        copies = [in_sessions(lines, b"copy-%d-" % number) for number in range(requests)]
        bodies = [gzip.compress(b"\n".join(copy)) for copy in copies]
        posted = measure(deployment, events_sender, bodies, senders, events, events)
        report("POST, events", posted)
    a_span = len(lines) / spans
    values = {
        "otlp.to_events": over_http.queryable * a_span / posted.queryable,
        "otlp.to_events_cost": posted.cost * a_span / over_http.cost,
    }
    click.echo(
        "events a second by OTLP over HTTP to those by POST /v1/events:"
        f" {values['otlp.to_events']:.2f}, by processor time {values['otlp.to_events_cost']:.2f}"
    )
    for name, way in (("http", over_http), ("grpc", over_grpc), ("events", posted)):
        values |= {f"otlp.{name}_queryable": way.queryable, f"otlp.{name}_cost": way.cost}
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--requests", default=60, show_default=True, help="requests of each way")
@click.option("--senders", default=4, show_default=True, help="connections that send at once")
def main(requests: int, senders: int) -> None:
    measure_ways(requests, senders)


if __name__ == "__main__":
    main()
