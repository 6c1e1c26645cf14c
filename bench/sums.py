"""Shows whether every way to add up costs has the same total, to the last digit.

    python -m bench.sums [--events 10000000] [--kills 3] [--data DIR]

Makes a month of events of 20 organizations inside ClickHouse (`bench/workload.py`), of which one of
20 is stored twice. In the largest organization it compares the total of `GET /v1/costs` with the
sums over its groups and days, over the exported sessions, and over people's SQL. Then the
organization gets prices of its own, and a repricing computes all costs again, while its workers are
killed `kills` times. The sums have to be equal again, and the same as those of its dry run. Exits
with 1 if any sum differs.
"""

import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import msgspec
import psutil

# Lets `python bench/sums.py` find its neighbours, as `python -m bench.sums` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.site import Site
from bench.workload import DAYS, Workload, ensure
from shared.foundation.core.clock import format_us

RESENT = 20
GROUPS = ("agent_id", "user_id", "agent_version", "model", "environment", "provider", "attr.plan")
_DAY_US = 86_400_000_000
_PAGE = 500
_PRICE = {"model": "model-*", "prices": {"input": 4, "output": 21, "cache_read": "0.37"}}
_KILL_EVERY_SECS = 2.0
# The views have amounts as floats. Each is an integer of 1e-12 dollars, rounded.
_SQL = "SELECT toString(sum(toInt128(round(cost_usd * 1e12)))) AS total FROM {}"

# A number of JSON is the nearest float of an exact decimal, and its shortest text that decimal.
_decode = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


class Sums:
    """The ways to add up the costs of the largest organization."""

    def __init__(self, site: Site, workload: Workload) -> None:
        self._api = site.connect()
        self._slug = workload.slugs[0]
        self._range = {
            "ts_from": format_us(workload.ended_at - (DAYS + 1) * _DAY_US),
            "ts_to": format_us(workload.ended_at + _DAY_US),
        }

    def ask(self, path: str, body: Any = None) -> dict[str, Any]:
        """Returns the decoded answer of a route. Raises `ClickException` unless it is a success."""
        status, answer = self._api.ask(self._slug, path, body)
        if status >= 400:
            raise click.ClickException(f"{path} answered {status}: {answer[:300]!r}")
        return _decode(answer)

    def all(self) -> dict[str, Decimal]:
        """Returns the total of each way, in dollars."""
        return {
            "total": self._costs()["total"]["cost_usd"],
            **{f"by {name}": self._of_groups(name) for name in GROUPS},
            "by day": self._of_days(),
            "exported sessions": self._exported(),
            **{f"SQL over {name}": self._selected(name) for name in ("events", "agent_sessions")},
        }

    def reprice(self, *, dry_run: bool) -> str:
        """Requests a repricing of everything, and returns its id."""
        wanted = {"from": self._range["ts_from"], "to": self._range["ts_to"], "dry_run": dry_run}
        return str(self.ask("/v1/costs/repricings", wanted)["id"])

    def _costs(self, **query: Any) -> dict[str, Any]:
        return self.ask(f"/v1/costs?{urlencode({**self._range, **query})}")

    def _of_groups(self, name: str) -> Decimal:
        total = Decimal(0)
        cursor: dict[str, str] = {}
        while True:
            page = self._costs(group_by=name, limit=_PAGE, **cursor)
            total += _sum(group["cost_usd"] for group in page["groups"])
            if page["next_cursor"] is None:
                return total
            cursor = {"cursor": page["next_cursor"]}

    def _of_days(self) -> Decimal:
        points = self._costs(bucket="day")["series"][0]["points"]
        return _sum(point["cost_usd"] for point in points)

    def _exported(self) -> Decimal:
        _, lines = self._api.ask(self._slug, "/v1/exports/sessions")
        return _sum(_decode(line)["cost_usd"] for line in lines.splitlines())

    def _selected(self, table: str) -> Decimal:
        answer = self.ask("/v1/queries/run", {"sql": _SQL.format(table)})
        return Decimal(answer["rows"][0][0]).scaleb(-12)


def _sum(amounts: Any) -> Decimal:
    return sum((Decimal(one) for one in amounts if one is not None), Decimal(0))


def show(sums: dict[str, Decimal]) -> bool:
    """Prints the totals, and returns whether all are equal."""
    for name, value in sums.items():
        mark = "" if value == sums["total"] else "  DIFFERS"
        click.echo(f"{name:24} {value.normalize():f}{mark}")
    return len(set(sums.values())) == 1


def wait_for(sums: Sums, repricing_id: str, kills: int) -> dict[str, Any]:
    """Kills workers while a repricing runs, and returns its row when it has ended."""
    next_kill = time.monotonic() + _KILL_EVERY_SECS
    while True:
        row = sums.ask(f"/v1/costs/repricings/{repricing_id}")
        if row["state"] not in ("queued", "running"):
            return row
        if kills and row["state"] == "running" and time.monotonic() > next_kill:
            kill_workers()
            kills, next_kill = kills - 1, time.monotonic() + _KILL_EVERY_SECS
            click.echo(f"killed the workers at {row['progress']['calls']:,} calls")
        time.sleep(0.2)


def kill_workers() -> None:
    """Ends the processes of the workers at once; their supervisor starts others."""
    # A worker is forked from the supervisor, and has its command line.
    for one in psutil.Process(os.getpid()).children(recursive=True):
        parent = one.parent()
        if _is_supervisor(one) and parent is not None and _is_supervisor(parent):
            one.send_signal(signal.SIGKILL)


def _is_supervisor(process: psutil.Process) -> bool:
    return "workers.supervisor" in " ".join(process.cmdline())


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--events", default=10_000_000, show_default=True)
@click.option("--kills", default=3, show_default=True, help="of the workers during the repricing")
@click.option(
    "--data", type=click.Path(path_type=Path), help="directory that keeps the stores for later runs"
)
def main(events: int, kills: int, data: Path | None) -> None:
    with ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = stack.enter_context(Site(folder))
        site.start_stores()
        workload = ensure(site, events, lambda _: None, resent=RESENT)
        site.start_web()
        site.start_workers()
        sums = Sums(site, workload)
        is_equal = show(sums.all())
        sums.ask("/v1/prices", _PRICE)
        expected = wait_for(sums, sums.reprice(dry_run=True), 0)["result"]
        started = time.monotonic()
        row = wait_for(sums, sums.reprice(dry_run=False), kills)
        took = time.monotonic() - started
        click.echo(f"repriced {row['result']['calls']:,} calls in {took:.1f} s: {row['state']}")
        is_equal = show(sums.all()) and is_equal
        is_same = row["result"] == expected
        click.echo(f"the same as the dry run: {is_same}")
    sys.exit(0 if is_equal and is_same else 1)


if __name__ == "__main__":
    main()
