"""A whole deployment as in the Procfile, on free ports."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from tests.support.evaluator import Evaluator
from tests.support.migrated import put_migrated_stores
from tests.support.stack import kept_servers, stack_directory


@contextmanager
def kept_stores() -> Iterator[dict[str, str]]:
    """Yields the variables of the stores that `bin/test --keep` leaves for a deployment, or none.

    The processes of the deployment start in each run, because they have to run its code.
    """
    with kept_servers("-deployment") as stack:
        urls = {} if stack is None else asdict(stack.urls)
        yield {name.upper(): url for name, url in urls.items()}


@contextmanager
def running_deployment(evaluator: Evaluator, **given: str) -> Iterator[Deployment]:
    """Runs the service on free ports in a new directory, without gRPC and canaries.

    `given` are further variables.
    """
    variables = {
        "PATH": os.environ["PATH"],
        "PORT": str(free_port()),
        "OTLP_GRPC_PORT": "0",
        "CANARY_INTERVAL_SECS": "0",
        "EVALUATOR_ENDPOINT": evaluator.url,
        **given,
    }
    said: list[str] = []
    try:
        with (
            _directory(given) as directory,
            Deployment(directory, variables, said.append) as running,
        ):
            yield running
    finally:
        print("\n".join(said))  # noqa: T201 shown with a failed test


@contextmanager
def _directory(given: Mapping[str, str]) -> Iterator[Path]:
    """Makes a directory for a deployment, with stores that have the schema if it starts them."""
    with stack_directory() as directory:
        if not {"DATABASE_URL", "CLICKHOUSE_URL"} & given.keys():
            put_migrated_stores(directory)
        yield directory
