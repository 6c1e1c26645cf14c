"""Faults at random: processes and stores are killed or stopped, slow, cut off, without room.

This is the only list of faults: `python -m bench.storm` and `bin/test --chaos` draw from it. The
order of the faults and their lengths follow from the seed. What they meet does not.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import psutil
import psycopg2
import redis
from clickhouse_driver import Client
from clickhouse_driver.errors import Error as ClickHouseError

from bench.deployments import service_processes
from bench.storm.surroundings import Surroundings
from devstack.server import Server
from devstack.up.deployment import Deployment

# A worker that hangs for longer than its leases last finds that somebody else has its work.
_LONG_STOP_SECS = (8.0, 14.0)
_STOP_SECS = (1.0, 3.0)
_SLOW_SECS, _DELAY_SECS = (2.0, 6.0), (0.02, 0.4)
_FULL_SECS = (2.0, 5.0)
_LONGEST_JUMP_SECS = 3600.0
STORES = ("redis", "clickhouse", "postgres")


class Faults:
    """Causes one fault at a time. The deployment's watcher restarts killed programs and servers."""

    def __init__(self, deployment: Deployment, around: Surroundings, seed: int) -> None:
        self._deployment = deployment
        self._around = around
        self._dice = random.Random(seed)
        self._stopped: list[threading.Thread] = []
        self.caused: Counter[str] = Counter()
        stack = deployment.stack
        self._kinds: list[tuple[int, str, Callable[[], None]]] = [
            (2, "kill web", lambda: deployment.kill("web")),
            (3, "kill worker", lambda: deployment.kill("worker")),
            (1, "kill clock", lambda: deployment.kill("clock")),
            (2, "kill otlp-grpc", lambda: deployment.kill("otlp-grpc")),
            (2, "kill a web process", lambda: self._signal_one("gunicorn", signal.SIGKILL)),
            (5, "kill a worker process", lambda: self._signal_one("workers.", signal.SIGKILL)),
            (1, "stop a web process", lambda: self._stop_one("gunicorn", _STOP_SECS)),
            (1, "stop otlp-grpc", lambda: self._stop_one("web.otlp", _STOP_SECS)),
            (2, "stop a worker process", lambda: self._stop_one("workers.", _STOP_SECS)),
            (
                2,
                "stop a worker process for long",
                lambda: self._stop_one("workers.", _LONG_STOP_SECS),
            ),
            (2, "kill redis", stack.redis.kill),
            (2, "kill clickhouse", stack.clickhouse.kill),
            (2, "kill postgres", stack.postgres.kill),
            (1, "stop redis", lambda: self._stop_server(stack.redis)),
            (1, "stop clickhouse", lambda: self._stop_server(stack.clickhouse)),
            (1, "stop postgres", lambda: self._stop_server(stack.postgres)),
            (1, "cut redis", self._cut_redis),
            (1, "cut clickhouse", self._cut_clickhouse),
            (1, "cut postgres", self._cut_postgres),
            (1, "redis out of memory", self._redis_out_of_memory),
            (3, "jump of the clock", self._jump),
            *((1, f"slow {one}", partial(self._slow, one)) for one in STORES),
            *((1, f"drop connections to {one}", partial(self._drop, one)) for one in STORES),
            *((1, f"full disk of {one}", partial(self._full, one)) for one in self._around.disks),
        ]

    def cause_one(self) -> str:
        """Causes a fault and returns its kind."""
        weights = [weight for weight, *_ in self._kinds]
        _, name, fault = self._dice.choices(self._kinds, weights)[0]
        fault()
        self.caused[name] += 1
        return name

    def pause(self, longest: float) -> None:
        """Waits for a random time up to `longest` seconds."""
        time.sleep(self._dice.uniform(0.2, longest))

    def end(self) -> None:
        """Waits until every stopped process runs again, and sets the clock right."""
        for thread in self._stopped:
            thread.join()
        self._around.turn_clock(0)

    def _jump(self) -> None:
        """Sets the clock forward or back until the next jump."""
        secs = self._dice.choice((1, -1)) * _LONGEST_JUMP_SECS ** self._dice.random()
        self._around.turn_clock(secs)

    def _slow(self, store: str) -> None:
        delay, secs = self._dice.uniform(*_DELAY_SECS), self._dice.uniform(*_SLOW_SECS)
        self._around.proxies.slow_down(store, delay)
        time.sleep(secs)
        self._around.proxies.slow_down(store, 0)

    def _drop(self, store: str) -> None:
        self._around.proxies.drop(store)

    def _full(self, store: str) -> None:
        secs = self._dice.uniform(*_FULL_SECS)
        self._around.fill(store)
        time.sleep(secs)
        self._around.empty(store)

    def _redis_out_of_memory(self) -> None:
        """Refuses all writes that need memory, as `noeviction` does at the limit."""
        secs, url = self._dice.uniform(*_FULL_SECS), self._deployment.stack.redis.url
        for limit in (1, 0):
            with (
                suppress(redis.RedisError),
                redis.Redis.from_url(url, socket_timeout=2) as client,
            ):
                client.config_set("maxmemory", limit)
            time.sleep(secs * limit)

    def _one(self, word: str) -> psutil.Process | None:
        """Returns a running process of a program, but not its first one if it has several."""
        pids = [pid for pid, words in service_processes().items() if word in words]
        with suppress(psutil.NoSuchProcess):
            found = [psutil.Process(pid) for pid in sorted(pids)]
            children = [process for process in found if process.ppid() != os.getpid()]
            if found:
                return self._dice.choice(children or found)
        return None

    def _signal_one(self, word: str, number: signal.Signals) -> None:
        process = self._one(word)
        if process is not None:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def _stop_one(self, word: str, between: tuple[float, float]) -> None:
        process, secs = self._one(word), self._dice.uniform(*between)
        if process is not None:
            thread = threading.Thread(target=_stop, args=(process, secs))
            self._stopped.append(thread)
            thread.start()

    def _stop_server(self, server: Server) -> None:
        if server.pid is not None:
            _stop(psutil.Process(server.pid), self._dice.uniform(*_STOP_SECS))

    def _cut_redis(self) -> None:
        url = self._deployment.stack.redis.url
        with (
            suppress(redis.RedisError),
            redis.Redis.from_url(url, socket_timeout=2) as client,
        ):
            client.client_kill_filter(_type="normal", skipme=True)

    def _cut_postgres(self) -> None:
        with suppress(psycopg2.Error):
            connection = psycopg2.connect(self._deployment.stack.postgres.url, connect_timeout=5)
            with connection, connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
            connection.close()

    def _cut_clickhouse(self) -> None:
        """Ends all statements. The one that never ends keeps the server of devstack alive."""
        url = self._deployment.stack.clickhouse.url
        with suppress(ClickHouseError, OSError, EOFError):
            client = Client.from_url(url)
            client.execute(
                "KILL QUERY WHERE query NOT LIKE 'SELECT sleepEachRow(%'"
                " AND query_id != queryID() ASYNC"
            )
            client.disconnect()


def _stop(process: psutil.Process, secs: float) -> None:
    with suppress(psutil.NoSuchProcess):
        process.suspend()
        time.sleep(secs)
        process.resume()
