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

# Every process of a stack carries this variable with the stack's directory, and so does whatever
# it starts in turn: workers of a killed gunicorn are found by it although nobody wrote them down.
MARK = "WATCHPOST_DEVSTACK"

# These two write their titles over their environment, so they are known by name and directory.
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
    """Starts `command` in a session of its own, so that Ctrl-C reaches the owner only.

    Output is appended to `log`; `account` is the operating system user to run as (default: ours).
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
    """Processes of the stack in `directory` that still run, whoever their parent is now."""
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
    except (psutil.Error, OSError):  # it ended meanwhile, or belongs to another user
        return False


def end(processes: Iterable[psutil.Process], grace_seconds: float = 5.0) -> None:
    """Asks each process to end and kills those that have not after `grace_seconds`."""
    waiting = list(processes)
    for process in waiting:
        _ask(process)
    alive = _wait_for(waiting, grace_seconds)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _wait_for(alive, grace_seconds)


def _wait_for(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those of `processes` that still run after `seconds`; returns earlier when none does.

    A process that ended counts as gone before its parent takes notice: in many containers nobody
    ever does, and waiting for the process table (`psutil.wait_procs`) would take all the time.
    """
    deadline = time.monotonic() + seconds
    alive = [process for process in processes if is_alive(process)]
    while alive and time.monotonic() < deadline:
        time.sleep(0.02)
        alive = [process for process in alive if is_alive(process)]
    return alive


def is_alive(process: psutil.Process) -> bool:
    """Whether the process still does something, as opposed to being gone or a zombie."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _ask(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        # PostgreSQL's SIGTERM waits for its clients to leave; its SIGINT does not.
        polite = signal.SIGINT if process.name() == "postgres" else signal.SIGTERM
        process.send_signal(polite)


def wait_until_gone(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Whether the child ended within `timeout` seconds."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


def last_lines(log: Path, count: int = 15) -> str:
    """The end of a log file, for an error message."""
    if not log.exists():
        return "(no output)"
    lines = log.read_text(errors="replace").splitlines()[-count:]
    return "\n".join(lines) or "(no output)"
