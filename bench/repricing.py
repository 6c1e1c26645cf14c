"""Prices stored calls again, alone and while events are posted into the same organization.

    python -m bench.repricing [--calls 1000000] [--rate 5000]

Starts its own deployment, as in the Procfile, and puts calls without costs into ClickHouse, over 30
days. Prints calls a second of a dry run, of a run in which every call changes, of one in which none
does, and of a dry run beside ingest; and the longest lag of ingest alone and beside that.
"""

import http.client
import json
import sys
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import click
import redis
from clickhouse_driver import Client

# Lets `python bench/repricing.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed
from bench.paging import Writer, organization
from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment
from shared.foundation.core.clock import format_us, now_us
from shared.intake.ingest.backlog import lag_secs

_DAYS_US = 30 * 24 * 3600 * 1_000_000
_POLL_SECS = 0.05
_FILL = """
INSERT INTO events (org_id, id, session_id, agent_id, event_type, environment, ts, arrival, payload,
    summary, is_error, model, input_tokens, output_tokens)
SELECT {org_id:String}, bitShiftRight(cityHash64(number), 11),
    concat('s', toString(number % 20000)), 'main', 'model_response', 'default',
    fromUnixTimestamp64Micro({start:Int64} + number * {gap:Int64}, 'UTC'),
    bitShiftLeft(toUInt64(intDiv({start:Int64}, 1000)), 21) + number % 2000000,
    concat('{"type":"model_response","model":"gpt-4o","input_tokens":', toString(number % 9000),
        ',"output_tokens":', toString(number % 900), ',"text":"', repeat('word ', 60), '"}'),
    'answer', false, 'gpt-4o', number % 9000, number % 900
FROM numbers({calls:UInt64})
"""


class Lag:
    """The longest lag of ingest while a block runs."""

    def __init__(self, url: str) -> None:
        self.longest = 0.0
        self._redis = redis.Redis.from_url(url)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(_POLL_SECS):
            self.longest = max(self.longest, lag_secs(self._redis))


def repriced(deployment: Deployment, start: int, *, dry_run: bool) -> dict[str, Any]:
    """Runs a repricing and returns its row."""
    wanted = {"from": format_us(start), "to": format_us(start + _DAYS_US), "dry_run": dry_run}
    row = _call(deployment, "POST", "/v1/costs/repricings", wanted)
    while row["state"] in ("queued", "running"):
        time.sleep(_POLL_SECS)
        row = _call(deployment, "GET", f"/v1/costs/repricings/{row['id']}")
    if row["state"] != "done":
        raise SystemExit(f"the repricing ended as {row['state']}: {row['error']}")
    return row


def rate_of(row: dict[str, Any]) -> float:
    """Returns calls a second."""
    ends = (datetime.fromisoformat(row[name]) for name in ("finished_at", "started_at"))
    return float(row["result"]["calls"] / (next(ends) - next(ends)).total_seconds())


def _call(deployment: Deployment, method: str, path: str, body: object = None) -> dict[str, Any]:
    connection = http.client.HTTPConnection(LOOPBACK, int(deployment.environ["PORT"]), timeout=60)
    headers = {
        "Authorization": f"Bearer {deployment.admin_key}",
        "Content-Type": "application/json",
    }
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    if "id" not in answer:
        raise SystemExit(f"{method} {path}: {answer}")
    return answer


def measure(deployment: Deployment, calls: int, rate: int) -> None:
    """Fills, prices again and prints the rates."""
    clickhouse = Client.from_url(f"{deployment.environ['CLICKHOUSE_URL']}?server_side_params=True")
    start = now_us() - _DAYS_US - timedelta(days=2) // timedelta(microseconds=1)
    org_id = organization(deployment.environ["DATABASE_URL"])
    params = {"org_id": org_id, "start": start, "gap": _DAYS_US // calls, "calls": calls}
    clickhouse.execute(_FILL, params)
    for name, is_dry in (("dry run", True), ("run", False), ("run again", False)):
        row = repriced(deployment, start, dry_run=is_dry)
        changed = row["result"]["changed"]
        click.echo(f"{name}: {rate_of(row):,.0f} calls/s, {changed:,} of {calls:,} changed")
    port, key = int(deployment.environ["PORT"]), deployment.admin_key
    writer = Writer(port, key, now_us(), rate, 2)
    writer.start()
    try:
        with Lag(deployment.environ["REDIS_URL"]) as alone:
            time.sleep(10)
        with Lag(deployment.environ["REDIS_URL"]) as beside:
            row = repriced(deployment, start, dry_run=True)
    finally:
        writer.stop()
    click.echo(
        f"dry run beside {rate:,} events/s: {rate_of(row):,.0f} calls/s; longest lag of ingest"
        f" {beside.longest:.1f} s, alone {alone.longest:.1f} s"
    )


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--calls", default=1_000_000, show_default=True, help="that are stored")
@click.option("--rate", default=5_000, show_default=True, help="events a second to post")
def main(calls: int, rate: int) -> None:
    with deployed() as deployment:
        measure(deployment, calls, rate)


if __name__ == "__main__":
    main()
