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


@contextmanager
def deployed(
    say: Callable[[str], None] = click.echo,
    *,
    directory: Path | None = None,
    make: Callable[[Path, dict[str, str], Callable[[str], None]], Deployment] = Deployment,
    **given: str,
) -> Iterator[Deployment]:
    """Runs a deployment in `directory`, or in a new one that is removed afterwards.

    `given` are variables that override the usual ones. No evaluator listens, unless they name one.
    `say` gets the messages for people. `make` creates the deployment.
    """
    no_evaluator = {
        "EVALUATOR_ENDPOINT": f"http://{LOOPBACK}:{free_port()}",
        "EVALUATOR_ORGS": "nobody",
    }
    variables = {
        **os.environ,
        "PORT": str(free_port()),
        "OTLP_GRPC_PORT": str(free_port()),
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
        yield stack.enter_context(make(directory, variables, say))


def service_processes() -> dict[int, str]:
    """Returns the command lines of the running processes of the service by process id."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            words = " ".join(process.cmdline())
            is_ours = any(name in words for name in ("gunicorn", "web.otlp", "workers."))
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = words
    return found
