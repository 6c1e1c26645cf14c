"""Measures the cost of authentication: authenticated routes compared with a public one.

    python -m bench.auth [--seconds 4] [--runs 5] [--connections 4]

Starts its own deployment. Each run calls GET /v1/health (no credential, no store), then GET
/v1/auth/introspect with an API key, then the same as a member for whom the admin key acts. All
connections stay open. The bar compares the medians with that of /health in the same run, and the
round trips per request, as counted by Redis and PostgreSQL.
"""

import statistics
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import click
import psycopg2
import redis

# Lets `python bench/auth.py` find its neighbours, as `python -m bench.auth` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed
from bench.figures import figures_of, lines_of
from devstack.ports import LOOPBACK

ADMIN_EMAIL = "admin@example.org"


@dataclass(frozen=True)
class Route:
    """A route and the headers of its requests."""

    name: str
    path: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Cost:
    """Medians of one run: milliseconds per request, and round trips per request."""

    requests: int
    median_ms: float
    redis: float
    postgres: float


class Counters:
    """The stores' own counters."""

    def __init__(self, environ: dict[str, str]) -> None:
        self._redis = redis.Redis.from_url(environ["REDIS_URL"])
        self._postgres = psycopg2.connect(environ["DATABASE_URL"])
        self._postgres.autocommit = True

    def read(self) -> tuple[int, int]:
        """Returns the GETs that Redis answered, and PostgreSQL's scans of the table of keys."""
        stats: Any = self._redis.info("commandstats")
        gets = int(stats.get("cmdstat_get", {"calls": 0})["calls"])
        with self._postgres.cursor() as cursor:
            # Only authentication reads this table; workers and clock leave it alone.
            cursor.execute(
                "SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0)"
                " FROM pg_stat_user_tables WHERE relname = 'api_keys'"
            )
            row = cursor.fetchone()
        return gets, int(row[0]) if row else 0


def ask(port: int, route: Route, until: float, times: list[float]) -> None:
    """Sends requests over one connection, again and again."""
    connection = HTTPConnection(LOOPBACK, port)
    while time.perf_counter() < until:
        started = time.perf_counter()
        connection.request("GET", route.path, headers=route.headers)
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - started)
        if answer.status != 200:
            raise SystemExit(f"GET {route.path} answered {answer.status}")
    connection.close()


def measure_route(
    port: int, route: Route, counters: Counters, seconds: float, connections: int
) -> Cost:
    """Measures one route for a while, once every process has seen its credential."""
    warm_up: list[float] = []
    ask(port, route, time.perf_counter() + 0.5, warm_up)
    # PostgreSQL publishes the counters of a connection about a second later.
    time.sleep(1.5)
    before = counters.read()
    times: list[float] = []
    until = time.perf_counter() + seconds
    threads = [
        threading.Thread(target=ask, args=(port, route, until, times)) for _ in range(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(1.5)
    after = counters.read()
    return Cost(
        requests=len(times),
        median_ms=statistics.median(times) * 1000,
        redis=(after[0] - before[0]) / len(times),
        postgres=(after[1] - before[1]) / len(times),
    )


def routes_of(admin_key: str) -> tuple[Route, ...]:
    """Returns the routes, the one without a credential first. The others are compared with it."""
    bearer = {"Authorization": f"Bearer {admin_key}"}
    return (
        Route("no credential", "/v1/health", {}),
        Route("key", "/v1/auth/introspect", bearer),
        Route("member", "/v1/auth/introspect", {**bearer, "X-Service-Actor": ADMIN_EMAIL}),
    )


def measure(seconds: float = 4.0, runs: int = 5, connections: int = 4) -> dict[str, float]:
    """Returns the ratio to /health and the round trips of a request, as medians of the runs."""
    found: dict[str, list[float]] = defaultdict(list)
    with deployed(lambda _line: None, ADMIN_EMAIL=ADMIN_EMAIL) as deployment:
        counters = Counters(dict(deployment.environ))
        port = int(deployment.environ["PORT"])
        for _ in range(runs):
            plain, *others = (
                (route.name, measure_route(port, route, counters, seconds, connections))
                for route in routes_of(deployment.admin_key)
            )
            for name, cost in others:
                found[f"auth.{name}_ratio"].append(cost.median_ms / plain[1].median_ms)
                found[f"auth.{name}_redis"].append(cost.redis)
                found[f"auth.{name}_postgres"].append(cost.postgres)
    return {name: statistics.median(values) for name, values in found.items()}


@click.command()
@click.option("--seconds", default=4.0, show_default=True, help="Duration of each measurement.")
@click.option("--runs", default=5, show_default=True)
@click.option("--connections", default=4, show_default=True, help="Concurrent connections.")
def main(seconds: float, runs: int, connections: int) -> None:
    """Measure the cost of authentication."""
    for line in lines_of(figures_of(measure(seconds, runs, connections))):
        click.echo(line)


if __name__ == "__main__":
    main()
