"""A deployment of its own for a benchmark, as in the Procfile, on free ports."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import psutil

from devstack.ports import LOOPBACK, free_port
from devstack.up.deployment import Deployment


@contextmanager
def deployed(say: Callable[[str], None] = click.echo, **given: str) -> Iterator[Deployment]:
    """Runs a deployment in a new directory. `given` are variables that override the usual ones.

    No evaluator listens: a benchmark that needs one names it. `say` gets the messages for people.
    """
    variables = {
        **os.environ,
        "PORT": str(free_port()),
        "LOG_LEVEL": "warning",
        "EVALUATOR_ENDPOINT": f"http://{LOOPBACK}:{free_port()}",
        "EVALUATOR_ORGS": "nobody",
        **given,
    }
    with tempfile.TemporaryDirectory(prefix="watchpost-bench-") as folder:
        # When this runs as root, PostgreSQL runs as another user.
        Path(folder).chmod(0o755)
        with Deployment(Path(folder), variables, say) as deployment:
            yield deployment


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
