"""`python -m devstack.up`. `bin/up` prepares the environment and runs it."""

import os
import signal
import threading
import time
from types import FrameType

import click
from rich.console import Console

from devstack.__main__ import default_directory
from devstack.errors import StackError
from devstack.up import report
from devstack.up.api import Api, ApiError
from devstack.up.checks import run_checks
from devstack.up.demo import play
from devstack.up.deployment import Deployment

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command()
@click.option(
    "--check",
    is_flag=True,
    help="Compare the results with the sent events, then stop; exit 0 or 1.",
)
@click.option("--no-demo", is_flag=True, help="Leave out the demonstration.")
def main(check: bool, no_demo: bool) -> None:
    """Start the whole service on this machine, play a demonstration, stay up until Ctrl-C.

    Variables of the environment are passed on and override the generated ones: PORT, PUBLIC_URL,
    ADMIN_KEY, AGENT_API_KEY, ADMIN_EMAIL, DEVSTACK_DIR (data and logs, default .devstack),
    DATABASE_URL, REDIS_URL, CLICKHOUSE_URL, EVALUATOR_ENDPOINT, EVALUATOR_TOKEN, ...
    """
    if check and no_demo:
        raise click.UsageError("--check needs the demonstration: drop --no-demo")
    for number in _INTERRUPTS:
        signal.signal(number, _interrupt)
    deployment = Deployment(default_directory(), os.environ, click.echo)
    try:
        deployment.start()
        passed = _serve(deployment, check=check, demo=not no_demo)
    except (StackError, ApiError) as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        click.echo("stopping")
        passed = not check
    finally:
        for number in _INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)
        deployment.stop()
    raise SystemExit(0 if passed else 1)


def _serve(deployment: Deployment, *, check: bool, demo: bool) -> bool:
    console = Console()
    click.echo(f"ready {deployment.url}")
    if demo:
        started = time.monotonic()
        api = Api(deployment.url, deployment.admin_key)
        try:
            played = play(api, console, sql=deployment.runs_sql)
            report.print_scores(console, played)
            report.print_figures(console, played.figures)
            report.print_oversight(console, played.oversight)
            if check:
                checks = run_checks(api, played, scores=deployment.uses_example_evaluator)
                return report.print_checks(console, checks)
        finally:
            api.close()
        click.echo(f"the demonstration took {time.monotonic() - started:.1f} s")
    report.print_next_steps(console, deployment)
    click.echo("Ctrl-C stops everything; the data stays.")
    threading.Event().wait()
    return True


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(prog_name="bin/up")
