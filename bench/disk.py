"""Shows how much disk and memory events take.

    python -m bench.disk [--copies 40]

Starts its own deployment and sends the airline recording `copies` times. Disk is that of
ClickHouse's active parts after its merges. Memory is PSS: a page that n processes share counts as
1/n in each. Other work of the machine does not change them.
"""

import sys
from pathlib import Path

import click
import psutil
import redis
from clickhouse_driver import Client

# Lets `python bench/disk.py` find its neighbours, as `python -m bench.disk` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.bodies import bodies_of
from bench.cost import _PROGRAMS
from bench.deployments import deployed
from bench.ingest import send_all, settle, wait_until_counted

_PARTS = """SELECT table, sum(rows), sum(bytes_on_disk), count() FROM system.parts
    WHERE active AND database = 'watchpost' GROUP BY table ORDER BY sum(bytes_on_disk) DESC"""


def memory() -> dict[str, float]:
    """Returns the megabytes of this program's children, by program."""
    found: dict[str, float] = {}
    for process in psutil.Process().children(recursive=True):
        try:
            words, size = " ".join(process.cmdline()), process.memory_full_info().pss
        except psutil.Error:
            continue
        for part, name in _PROGRAMS:
            if part in words:
                found[name] = found.get(name, 0) + size / 1e6
                break
    return found


def measure(copies: int, senders: int) -> dict[str, float]:
    """Sends copies of the recording, and prints and returns what they take."""
    lines = read_events()
    events = len(lines) * copies
    with deployed() as deployment:
        before = memory()
        send_all(deployment, bodies_of(lines, copies, 0), senders)
        loaded = memory()
        clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
        wait_until_counted(clickhouse, events)
        settle(clickhouse)
        merged = memory()
        size = sum(map(len, lines)) / len(lines)
        click.echo(f"{events:,} events of {size:.0f} bytes")
        tables = clickhouse.execute(_PARTS)
        for table, rows, taken, parts in tables:
            each = f"{taken / events:>8.1f} bytes an event{parts:>4} parts"
            click.echo(f"{table:26}{rows:>10,} rows{taken / 1e6:>10.1f} MB{each}")
        clickhouse.disconnect()
        used = redis.Redis.from_url(deployment.environ["REDIS_URL"]).info("memory")["used_memory"]
        click.echo(f"Redis, nothing waits: {used / 1e6:.1f} MB")
        click.echo(f"{'PSS in MB':18}{'idle':>10}{'accepted':>10}{'merged':>10}")
        for name in sorted(merged, key=merged.__getitem__, reverse=True):
            click.echo(f"{name:18}{before[name]:>10.0f}{loaded[name]:>10.0f}{merged[name]:>10.0f}")
    values = {"disk.event": sum(taken for _, _, taken, _ in tables) / events}
    values |= {"disk.redis": used / 1e6}
    return values | {f"disk.memory_{name.partition(',')[0]}": size for name, size in merged.items()}


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--copies", default=40, show_default=True, help="number of copies of the recording")
@click.option("--senders", default=8, show_default=True, help="connections that post at once")
def main(copies: int, senders: int) -> None:
    measure(copies, senders)


if __name__ == "__main__":
    main()
