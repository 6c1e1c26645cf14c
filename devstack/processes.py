"""Starts processes with a mark, and finds and ends those that a dead owner left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from devstack.accounts import Account
from devstack.state import State

# Every process of a stack, and every process that it starts, carries this variable with the stack's
# directory. It identifies the workers of a killed gunicorn, which no file lists.
MARK = "WATCHPOST_DEVSTACK"

# These two write their titles over their environment. They are recognized by name and directory.
_TITLED = frozenset({"postgres", "valkey-server"})

_LOG_LIMIT_BYTES = 10 * 1024 * 1024


def spawn(
    command: Sequence[str],
    *,
    directory: Path,
    cwd: Path,
    log: Path,
    environ: Mapping[str, str] | None = None,
    account: Account | None = None,
) -> subprocess.Popen[bytes]:
    """Starts `command` in its own session, so that Ctrl-C reaches only the owner.

    Appends the output to `log`. `account` is the operating system user to run as (default: ours).
    """
    marked = {**(os.environ if environ is None else environ), MARK: str(directory)}
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".old.log"))
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=marked,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=() if account else None,
        )


def leftovers(directory: Path, state: State) -> list[psutil.Process]:
    """Returns the running processes of the stack in `directory`, whatever their parent is now."""
    recorded = [identity.process() for identity in state.processes.values()]
    found = {process.pid: process for process in recorded if process is not None}
    for process in psutil.process_iter():
        if process.pid not in found and _belongs_to(process, directory):
            found[process.pid] = process
    found.pop(os.getpid(), None)
    return list(found.values())


def _belongs_to(process: psutil.Process, directory: Path) -> bool:
    try:
        if process.name() in _TITLED:
            return Path(process.cwd()).is_relative_to(directory)
        return bool(process.environ().get(MARK) == str(directory))
    except (psutil.Error, OSError):  # it has ended or belongs to another user
        return False


def end(processes: Iterable[psutil.Process], grace_seconds: float = 5.0) -> None:
    """Asks each process to end and kills those that still run after `grace_seconds`."""
    waiting = list(processes)
    for process in waiting:
        _ask(process)
    alive = _wait_for(waiting, grace_seconds)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _wait_for(alive, grace_seconds)


def _wait_for(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Waits up to `seconds` and returns the `processes` that still run.

    A process counts as gone when it has ended, even if its parent has not collected it. In many
    containers no parent ever does, and `psutil.wait_procs` would always wait for the full time.
    """
    deadline = time.monotonic() + seconds
    alive = [process for process in processes if is_alive(process)]
    while alive and time.monotonic() < deadline:
        time.sleep(0.02)
        alive = [process for process in alive if is_alive(process)]
    return alive


def is_alive(process: psutil.Process) -> bool:
    """Returns whether the process still runs and is not a zombie."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _ask(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        # On SIGTERM PostgreSQL waits for its clients to leave. On SIGINT it does not.
        polite = signal.SIGINT if process.name() == "postgres" else signal.SIGTERM
        process.send_signal(polite)


def wait_until_gone(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Returns whether the child ended within `timeout` seconds."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


def last_lines(log: Path, count: int = 15) -> str:
    """Returns the end of a log file, for an error message."""
    if not log.exists():
        return "(no output)"
    lines = log.read_text(errors="replace").splitlines()[-count:]
    return "\n".join(lines) or "(no output)"
