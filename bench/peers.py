"""Measures how fast another receiver of OpenTelemetry accepts spans and has them queryable.

    python -m bench.peers http://127.0.0.1:6006/v1/traces --count COMMAND [--requests 20]

Sends the requests of `bench.otlp` over HTTP to a server that runs already. COMMAND is a line for
the shell that prints how many spans can be queried; it is run once a second.

accepted    spans ÷ (first request … last answer)
queryable   spans ÷ (first request … COMMAND prints so many more spans than before)
"""

import gzip
import subprocess
import time

import click

from bench.otlp import COPIES, send_all, sender_to
from bench.spans import recorded_traces, request_of, spans_in

_EVERY_SECS = 1.0


def count_of(command: str) -> int:
    """Returns the number that a command prints."""
    done = subprocess.run(command, shell=True, check=True, capture_output=True)  # noqa: S602
    return int(done.stdout)


def wait_until_counted(command: str, spans: int, secs: float) -> None:
    """Waits until so many spans are counted. Raises `SystemExit` after `secs` without a change."""
    counted, since = -1, time.monotonic()
    while counted < spans:
        now = count_of(command)
        if now != counted:
            counted, since = now, time.monotonic()
        elif time.monotonic() - since > secs:
            raise SystemExit(f"{counted} of {spans} spans can be queried, and no more come")
        time.sleep(_EVERY_SECS)


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.argument("url")
@click.option("--count", "command", required=True, help="prints the number of queryable spans")
@click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", help="of every request")
@click.option("--requests", default=20, show_default=True)
@click.option("--senders", default=4, show_default=True, help="connections that send at once")
@click.option("--patience", default=120.0, show_default=True, help="seconds without a new span")
def main(
    url: str, command: str, headers: tuple[str, ...], requests: int, senders: int, patience: float
) -> None:
    given = {
        name.strip(): value.strip() for name, _, value in (one.partition(":") for one in headers)
    }
    recorded = recorded_traces()
    spans = len(list(spans_in(recorded))) * COPIES * requests
    # Another run sends other traces.
    first = time.time_ns() // 1_000_000_000 % 1_000_000 * 1000
    bodies = [
        gzip.compress(request_of(recorded, COPIES, first + number).SerializeToString())
        for number in range(requests)
    ]
    before, started = count_of(command), time.perf_counter()
    send_all(lambda: sender_to(url, given), bodies, senders)
    accepted = time.perf_counter() - started
    wait_until_counted(command, before + spans, patience)
    queryable = time.perf_counter() - started
    click.echo(
        f"{spans:,} spans: {spans / accepted:,.0f} accepted/s, {spans / queryable:,.0f} queryable/s"
    )


if __name__ == "__main__":
    main()
