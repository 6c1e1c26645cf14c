"""A deployment of its own for a benchmark, as in the Procfile, on free ports."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import click
import psutil

from devstack.ports import LOOPBACK, free_port
from devstack.up.deployment import Deployment
from devstack.up.watcher import LONGEST_PAUSE_SECONDS


@contextmanager
def deployed(
    say: Callable[[str], None] = click.echo,
    *,
    directory: Path | None = None,
    longest_pause: float = LONGEST_PAUSE_SECONDS,
    **given: str,
) -> Iterator[Deployment]:
    """Runs a deployment in `directory`, or in a new one that is removed afterwards.

    `given` are variables that override the usual ones. No evaluator listens, unless they name one.
    `say` gets the messages for people. What was killed starts again after `longest_pause` seconds
    at most.
    """
    no_evaluator = {
        "EVALUATOR_ENDPOINT": f"http://{LOOPBACK}:{free_port()}",
        "EVALUATOR_ORGS": "nobody",
    }
    variables = {
        **os.environ,
        "PORT": str(free_port()),
        "LOG_LEVEL": "warning",
        **({} if "EVALUATOR_ENDPOINT" in given else no_evaluator),
        **given,
    }
    with ExitStack() as stack:
        if directory is None:
            temporary = tempfile.TemporaryDirectory(prefix="watchpost-bench-")
            directory = Path(stack.enter_context(temporary))
        directory.mkdir(parents=True, exist_ok=True)
        # When this runs as root, PostgreSQL runs as another user.
        directory.chmod(0o755)
        deployment = Deployment(directory, variables, say, longest_pause=longest_pause)
        yield stack.enter_context(deployment)


def service_processes() -> dict[int, str]:
    """Returns the command lines of the running web, worker and clock processes by process id."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            words = " ".join(process.cmdline())
            is_ours = any(name in words for name in ("gunicorn", "workers."))
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = words
    return found
