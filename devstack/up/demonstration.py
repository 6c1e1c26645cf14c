"""Plays the demonstration on a deployment and prints its results."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from devstack.up import report
from devstack.up.api import Api
from devstack.up.checks import run_checks
from devstack.up.demo import Played, play
from devstack.up.deployment import Deployment
from devstack.up.page_checks import check_link


def has_events(deployment: Deployment) -> bool:
    """Returns whether the organization of the administrator's key has any event."""
    api = Api(deployment.url, deployment.admin_key)
    try:
        return bool(api.get("/v1/events", {"limit": "1"})["events"])
    finally:
        api.close()


def show_demonstration(deployment: Deployment) -> None:
    """Plays and prints it, and the time that it took."""
    started = time.monotonic()
    console = Console()
    with _played(deployment, console):
        seconds = time.monotonic() - started
        console.print(f"the demonstration took {seconds:.1f} s", highlight=False)


def check_demonstration(deployment: Deployment) -> bool:
    """Plays and prints it. Returns whether the results are those of the sent events."""
    console = Console()
    with _played(deployment, console) as (api, played):
        checks = run_checks(api, played, scores=deployment.uses_example_evaluator)
        checks += check_link(deployment.url, deployment.sign_in_link, deployment.admin_email)
        return report.print_checks(console, checks)


@contextmanager
def _played(deployment: Deployment, console: Console) -> Iterator[tuple[Api, Played]]:
    api = Api(deployment.url, deployment.admin_key)
    try:
        played = play(api, console, sql=deployment.runs_sql)
        report.print_scores(console, played)
        report.print_figures(console, played.figures)
        report.print_oversight(console, played.oversight)
        if played.board is not None:
            report.print_board(console, played.board)
        report.print_trace(console, played.trace)
        yield api, played
    finally:
        api.close()
