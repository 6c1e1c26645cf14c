"""`python -m devstack`: the servers alone, without the service."""

import os
import signal
import threading
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from devstack.errors import StackError
from devstack.lock import DirectoryLock
from devstack.processes import end
from devstack.reaper import reap
from devstack.stack import DevStack
from devstack.state import StateFile


def default_directory() -> Path:
    """Returns `DEVSTACK_DIR`, or `.devstack` in the project."""
    configured = os.environ.get("DEVSTACK_DIR")
    project = Path(__file__).resolve().parents[1]
    return (Path(configured) if configured else project / ".devstack").expanduser().resolve()


_directory_option = click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=default_directory,
    help="The directory of data and logs [default: $DEVSTACK_DIR or .devstack].",
)


@click.group()
def main() -> None:
    """Run PostgreSQL, Valkey and ClickHouse on this machine, for development."""


@main.command()
@_directory_option
def up(directory: Path) -> None:
    """Run the servers until Ctrl-C and print the variables to export."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    try:
        with DevStack(directory, say=partial(click.echo, err=True)) as stack:
            for name, url in asdict(stack.urls).items():
                click.echo(f"export {name.upper()}={url}")
            ended.wait()
    except StackError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@_directory_option
def status(directory: Path) -> None:
    """List the running servers. The exit code is 1 when none runs."""
    state = StateFile(directory).read()
    if state.owner is None or state.owner.process() is None:
        click.echo(f"no stack runs in {directory}")
        raise SystemExit(1)
    ports = asdict(state.ports) if state.ports else {}
    click.echo(f"started by process {state.owner.pid} in {directory}")
    for name, identity in state.processes.items():
        running = "running" if identity.process() else "ended"
        where = f" on 127.0.0.1:{ports[name]}" if name in ports else ""
        click.echo(f"{name}: {running}, process {identity.pid}{where}")


@main.command()
@_directory_option
def stop(directory: Path) -> None:
    """Stop the stack of a directory and all processes that an earlier one left behind."""
    owner = StateFile(directory).read().owner
    process = owner.process() if owner else None
    if process is not None:
        end([process], grace_seconds=30)
        click.echo(f"stopped process {process.pid}")
    left = _end_leftovers(directory) if directory.exists() else 0
    if left:
        click.echo(f"ended {left} processes that were left behind")
    if process is None and not left:
        click.echo(f"no stack runs in {directory}")


def _end_leftovers(directory: Path) -> int:
    lock = DirectoryLock(directory)
    lock.acquire()
    try:
        return reap(directory)
    finally:
        lock.release()


if __name__ == "__main__":
    main(prog_name="python -m devstack")
