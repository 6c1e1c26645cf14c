"""The means of chaos: a proxy that is slow or drops connections, and a clock that jumps."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bench.storm import surroundings
from bench.storm.proxy import Proxies
from bench.storm.surroundings import Surroundings, surrounded

pytestmark = pytest.mark.flow

_ASK = """
import sys, time
from shared.foundation.core.clock import now, now_us
for line in sys.stdin:
    print(time.time(), now().timestamp(), now_us() / 1e6, time.monotonic(), flush=True)
"""


@pytest.fixture
def proxies() -> Iterator[Proxies]:
    """Proxies that run."""
    with Proxies().running() as running:
        yield running


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that sends back what it gets."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, suppress(ConnectionResetError):
                    while piece := connection.recv(100):
                        connection.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_proxy_passes_on_and_is_slow_and_drops_connections(proxies: Proxies, echo: int) -> None:
    port = proxies.add("redis", echo)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"one")
        assert connection.recv(100) == b"one"
        proxies.slow_down("redis", 0.2)
        began = time.monotonic()
        connection.sendall(b"two")
        assert connection.recv(100) == b"two"
        assert time.monotonic() - began >= 0.4
        proxies.slow_down("redis", 0)
        proxies.drop("redis")
        with pytest.raises(ConnectionResetError):
            connection.recv(100)


def test_a_proxy_without_its_server_drops_connections(proxies: Proxies) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        target = closed.getsockname()[1]
    port = proxies.add("redis", target)
    with (
        pytest.raises(ConnectionResetError),
        socket.create_connection(("127.0.0.1", port), timeout=60) as connection,
    ):
        connection.recv(100)


def test_the_clock_of_a_process_jumps_while_it_runs(tmp_path: Path, proxies: Proxies) -> None:
    around = Surroundings(tmp_path, {}, proxies)
    with subprocess.Popen(
        [sys.executable, "-c", _ASK],
        env={**os.environ, **around.variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        said, heard = process.stdin, process.stdout
        assert said is not None
        assert heard is not None

        def wrong_by() -> list[float]:
            said.write("\n")
            *clocks, monotonic = map(float, heard.readline().split())
            assert abs(monotonic - time.monotonic()) < 60
            return [round((one - time.time()) / 100) * 100 for one in clocks]

        assert wrong_by() == [0, 0, 0]
        for secs in (3000, -3000):
            around.turn_clock(secs)
            deadline = time.monotonic() + 60
            while wrong_by() != [secs] * 3:
                assert time.monotonic() < deadline
        said.close()
        assert process.wait(60) == 0


def test_a_disk_becomes_full_and_has_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "_DISK_BYTES", {"redis": 1 << 20})
    with surrounded(None) as around:
        if not around.disks:
            pytest.skip("mounting a disk needs root")
        file = around.disks["redis"] / "file"
        around.fill("redis")
        with pytest.raises(OSError, match="No space left"):
            file.write_bytes(bytes(10_000))
        around.empty("redis")
        file.write_bytes(bytes(10_000))
    assert not around.directory.exists()
