"""Measures the processor time that receipts take: of a request, and of Redis.

    python -m bench.receipts [--posts 3000] [--rounds 5]

Appends batches of the recording to a stream with and without receipts, in turns, in one process
and on one connection. Then it folds the receipts into rows. A server of its own is Redis.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import redis

# Lets `python bench/receipts.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.figures import figures_of, lines_of
from devstack import DevStack
from shared.foundation.queue import connect_redis
from shared.intake.ingest.decode import decode_events
from shared.intake.ingest.receipts import receipt_of
from shared.intake.ingest.stream import append, remove
from shared.intake.receipts.folding import fold
from shared.intake.receipts.keys import keys_of
from shared.intake.receipts.origin import Origin
from shared.intake.redaction.rules import Redactor

ORG = "6f2c0f3e-0000-4000-8000-0123456789ab"
ORIGIN = Origin(
    "events", "0b8ff7c5-8a0c-4f63-9c5e-a2d1f9f3a111", "failproofai-sdk/0.0.1", "machine"
)
BATCH = 20

Work = Callable[[], object]


def cost(client: redis.Redis, times: int, work: Work) -> tuple[float, float]:
    """Returns microseconds of this process and of Redis that each run of `work` took."""
    redis_before, before = redis_seconds(client), time.process_time()
    for _ in range(times):
        work()
    own, of_redis = time.process_time() - before, redis_seconds(client) - redis_before
    return own / times * 1e6, of_redis / times * 1e6


def redis_seconds(client: redis.Redis) -> float:
    """Returns the processor seconds of Redis since its start."""
    cpu = client.info("cpu")
    return float(cpu["used_cpu_sys"] + cpu["used_cpu_user"])


def measure(posts: int = 3000, rounds: int = 5) -> dict[str, float]:
    """Returns the µs of a request without receipts, and those that its receipt adds."""
    lines = read_events()[:BATCH]
    body = b"\n".join(lines)
    decoded = decode_events(lines, ORG, 1024 * 1024)
    redactor = Redactor([])

    with tempfile.TemporaryDirectory() as home, DevStack(Path(home), servers=("redis",)) as stack:
        pool = connect_redis(stack.urls.redis_url)
        client = pool.client()  # type: ignore[no-untyped-call] # redis-py

        def plain() -> None:
            append(client, ORG, "bench", decoded.batch)

        def counted() -> None:
            receipt = receipt_of(ORIGIN, body, decoded, redactor)
            append(client, ORG, "bench", decoded.batch, receipt)

        plains, differences, folds = [], [], []
        for _ in range(rounds):
            without, with_receipts = cost(pool, posts, plain), cost(pool, posts, counted)
            plains.append(without)
            differences.append(
                [one - other for one, other in zip(with_receipts, without, strict=True)]
            )
            _, of_redis = cost(pool, 1, lambda: fold(client, ORG))
            folds.append(of_redis / posts)
            client.unlink(keys_of(ORG).rows)
            remove(pool, ORG)
    (here, there), (own, of_redis) = (
        [statistics.median(values) for values in zip(*pairs, strict=True)]
        for pairs in (plains, differences)
    )
    return {
        "receipts.request_here": here,
        "receipts.request_redis": there,
        "receipts.receipt_here": own,
        "receipts.receipt_redis": of_redis,
        "receipts.folding_redis": statistics.median(folds),
    }


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--posts", default=3000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
def main(posts: int, rounds: int) -> None:
    for line in lines_of(figures_of(measure(posts, rounds))):
        click.echo(line)


if __name__ == "__main__":
    main()
