"""`python -m devstack.up`. `bin/up` prepares the environment and runs it."""

import os
import signal
import threading
from types import FrameType

import click

from devstack.__main__ import default_directory
from devstack.errors import StackError
from devstack.up.api import ApiError
from devstack.up.deployment import Deployment
from devstack.up.next_steps import next_steps

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command()
@click.option(
    "--check",
    is_flag=True,
    help="Compare the results with the sent events, then stop; exit 0 or 1.",
)
@click.option("--demo", is_flag=True, help="Play the demonstration beside the events that exist.")
@click.option("--no-demo", is_flag=True, help="Leave out the demonstration.")
@click.option(
    "--stores", is_flag=True, help="Start and migrate the stores alone, for `backup restore`."
)
def main(check: bool, demo: bool, no_demo: bool, stores: bool) -> None:
    """Start the whole service on this machine, play a demonstration, stay up until Ctrl-C.

    Without --demo or --check it plays only while there are no events.

    Variables of the environment are passed on and override the generated ones: PORT, PUBLIC_URL,
    OTLP_GRPC_PORT (0: none), ADMIN_KEY, AGENT_API_KEY, ADMIN_EMAIL, DEVSTACK_DIR (data and logs,
    default .devstack), DATABASE_URL, REDIS_URL, CLICKHOUSE_URL, EVALUATOR_ENDPOINT, ...
    """
    if check and no_demo:
        raise click.UsageError("--check needs the demonstration: drop --no-demo")
    if demo and no_demo:
        raise click.UsageError("--demo and --no-demo contradict each other: drop one of them")
    if stores and (check or demo):
        raise click.UsageError("--stores starts no service to demonstrate: drop --check and --demo")
    for number in _INTERRUPTS:
        signal.signal(number, _interrupt)
    deployment = Deployment(default_directory(), os.environ, click.echo)
    try:
        deployment.start(stores_only=stores)
        plays = None if no_demo else check or demo
        passed = _keep_stores() if stores else _serve(deployment, check=check, plays=plays)
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


def _keep_stores() -> bool:
    """Waits until it is interrupted."""
    click.echo("ready stores; bin/orgctl works on them")
    click.echo("Ctrl-C stops them; the data stays.")
    threading.Event().wait()
    return True


def _serve(deployment: Deployment, *, check: bool, plays: bool | None) -> bool:
    """Serves until it is interrupted. Returns whether the check passed.

    `plays`: whether the demonstration plays whatever is there; None: never.
    """
    click.echo(f"ready {deployment.url}")
    if deployment.grpc_address is not None:
        click.echo(f"ready grpc {deployment.grpc_address}")
    if plays is not None:
        # Without the demonstration its libraries would only take memory while everything runs.
        from devstack.up import demonstration

        if check:
            return demonstration.check_demonstration(deployment)
        if plays or not demonstration.has_events(deployment):
            demonstration.show_demonstration(deployment)
        else:
            click.echo("no demonstration, because there are events: bin/up --demo plays it")
    for line in next_steps(deployment):
        click.echo(line)
    click.echo("Ctrl-C stops everything; the data stays.")
    threading.Event().wait()
    return True


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(prog_name="bin/up")
