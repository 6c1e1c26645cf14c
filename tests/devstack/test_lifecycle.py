"""Start and end of the stack: alone, twice, with a port taken, and after `kill -9`."""

import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from redis import Redis

from devstack import DevStack, Ports, StackError
from devstack.clickhouse import ClickHouseServer
from devstack.errors import StackRunning
from devstack.ports import free_port, is_free
from devstack.postgres import PostgresServer
from devstack.processes import is_alive, leftovers
from devstack.redis import RedisServer
from devstack.state import Identity, State, StateFile
from tests.devstack.owner import owned_stack
from tests.support.stack import stack_directory

pytestmark = pytest.mark.flow


@pytest.fixture
def directory() -> Iterator[Path]:
    with stack_directory() as made:
        yield made


def running(directory: Path) -> dict[str, psutil.Process]:
    processes = StateFile(directory).read().processes
    return {name: psutil.Process(identity.pid) for name, identity in processes.items()}


def find_reaper(directory: Path) -> psutil.Process:
    [reaper] = [
        process
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [])[-2:] == ["devstack.reaper", str(directory)]
    ]
    return reaper


def test_a_killed_owner_leaves_nothing_running(directory: Path) -> None:
    with owned_stack(directory) as owner:
        owner.urls()
        servers = running(directory)
        assert set(servers) == {"redis", "clickhouse", "postgres"}
        owner.process.kill()
        owner.process.wait()
        owner.wait_for_leftovers_to_end()
        assert not any(is_alive(server) for server in servers.values())


def test_start_ends_what_a_killed_owner_and_reaper_left(directory: Path) -> None:
    with owned_stack(directory) as owner:
        urls = owner.urls()
        with Redis.from_url(urls["REDIS_URL"]) as client:
            client.set("kept", "yes")
        find_reaper(directory).kill()
        owner.process.kill()
        owner.process.wait()
        orphans = running(directory)
        assert all(is_alive(orphan) for orphan in orphans.values())
        # A postmaster that is killed as well leaves its own children without a parent.
        orphans["postgres"].kill()

        said: list[str] = []
        with DevStack(directory, say=said.append) as stack:
            assert not any(is_alive(orphan) for orphan in orphans.values())
            assert any("earlier run left behind" in message for message in said)
            assert stack.urls.redis_url == urls["REDIS_URL"]
            with Redis.from_url(stack.urls.redis_url) as client:
                assert client.get("kept") == b"yes"


def test_a_reused_pid_is_not_ours(directory: Path) -> None:
    mine = Identity.of(psutil.Process().pid)
    parent = psutil.Process().ppid()
    stranger = Identity(parent, psutil.Process(parent).create_time() - 3600)
    assert mine.process() == psutil.Process()
    assert stranger.process() is None
    assert leftovers(directory, State(processes={"web": stranger})) == []


def test_only_one_owner(directory: Path) -> None:
    with owned_stack(directory) as owner:
        owner.urls()
        with pytest.raises(StackRunning, match=str(owner.process.pid)):
            DevStack(directory).start()
        assert all(is_alive(server) for server in running(directory).values())


def test_a_taken_port_is_replaced_and_named(directory: Path) -> None:
    wanted = StateFile(directory).read().ports
    assert wanted is not None
    said: list[str] = []
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", wanted.postgres))
        squatter.listen()
        moved = wanted.moved_where_taken(said.append)
    assert moved.postgres != wanted.postgres
    assert (moved.redis, moved.clickhouse) == (wanted.redis, wanted.clickhouse)
    assert said == [
        f"port {wanted.postgres} is taken: postgres listens on {moved.postgres} instead"
    ]


def test_a_port_lost_to_a_faster_one_is_replaced(directory: Path) -> None:
    wanted = StateFile(directory).read().ports
    assert wanted is not None
    with socket.socket() as squatter, socket.socket() as faster:
        squatter.bind(("127.0.0.1", wanted.redis))
        squatter.listen()
        said: list[str] = []

        def say(message: str) -> None:
            """Takes PostgreSQL's port, already found free, while Redis's port is replaced."""
            if not said:
                faster.bind(("127.0.0.1", wanted.postgres))
                faster.listen()
            said.append(message)

        with DevStack(directory, say=say) as stack:
            assert stack.postgres.port != wanted.postgres
            assert StateFile(directory).read().ports == Ports(
                stack.postgres.port, stack.redis.port, wanted.clickhouse
            )
    assert [line.split(":")[0] for line in said if "is taken" in line] == [
        f"port {wanted.redis} is taken",
        f"port {wanted.postgres} is taken",
    ]


def test_the_server_of_another_stack_is_neither_used_nor_ended(directory: Path) -> None:
    state_file = StateFile(directory)
    with stack_directory() as other, DevStack(other) as stack:
        for mine, theirs in (
            (RedisServer(state_file, stack.redis.port), stack.redis),
            (ClickHouseServer(state_file, stack.clickhouse.port), stack.clickhouse),
            (PostgresServer(state_file, stack.postgres.port, print), stack.postgres),
        ):
            mine.start()
            with pytest.raises(StackError, match=f"{mine.name} ended at once"):
                mine.wait_ready()
            mine.stop()
            assert theirs.pid is not None
            theirs.wait_ready()


def test_ports_asked_for_are_taken_or_refused(directory: Path) -> None:
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", 0))
        squatter.listen()
        taken = squatter.getsockname()[1]
        with pytest.raises(StackError, match=str(taken)):
            DevStack(directory, Ports(postgres=taken)).start()
    DevStack(directory, Ports.free()).stop()  # the lock is free again


def test_a_server_that_cannot_start_says_why_and_leaves_nothing(directory: Path) -> None:
    (directory / "redis" / "appendonlydir").mkdir(parents=True)
    (directory / "redis" / "appendonlydir" / "appendonly.aof.manifest").write_text("broken")
    with pytest.raises(StackError, match="redis ended at once"):
        DevStack(directory).start()
    assert leftovers(directory, StateFile(directory).read()) == []


def test_a_freed_port_can_be_found_again() -> None:
    port = free_port()
    assert port < 32768
    assert is_free(port)
