"""Checks that nothing acknowledged is lost or doubled while everything fails at random moments.

    python -m bench.storm [--otlp | --organizations 2] [--faults 200] [--minutes 60] [--seed S]
        [--rate 600] [--data DIR]

Starts its own deployment. Copies of the airline recording arrive at a steady rate; a batch is sent
again until it is acknowledged, and one in twenty once more after that. With `--otlp` agents are
traced instead, and exporters of OpenTelemetry send their spans over HTTP, over gRPC and as JSON;
they try again and give up as they always do. Some spans are bad, some are announced by pending
spans, and some requests are sent twice more, cut in another way, or in another format. With
`--organizations` so many of them send sessions, and each has an alert and an audit.

The evaluator answers at once, after a while, with polls, or with 500. Meanwhile one fault after the
other happens: processes of web, otlp-grpc, workers and clock are killed or stopped, and so are
Redis, ClickHouse and PostgreSQL; connections to them are cut or dropped, they become slow, their
disks or their memory full, and the clock of all processes jumps by up to an hour. The disks are
file systems in memory that root mounts; without root their faults are left out.

Afterwards every event must be stored once with the bytes that were sent; of each span that was
answered with success, each event once, and each trace in one session. Every session must be listed
once and have one result of one automatic job, and nothing may be left to do. Ends with an error
otherwise. `--data` keeps the stores and logs for a look at them.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import click
from clickhouse_driver import Client

# Lets `python bench/storm` find its neighbours, as `python -m bench.storm` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench import results
from bench.deployments import deployed
from bench.storm.checks import problems, wait_until_settled
from bench.storm.events.load import EventLoad
from bench.storm.faults import STORES, Faults
from bench.storm.organizations.load import OrganizationsLoad
from bench.storm.otlp.load import OtlpLoad
from bench.storm.surroundings import DisturbedDeployment, surrounded
from devstack.up.deployment import Deployment
from tests.support.evaluator import (
    Answer,
    Evaluator,
    Exchange,
    pending,
    reply,
    running_evaluator,
    scored,
)

_LONGEST_PAUSE_SECS, _SHORTEST_PAUSE_SECS = 2.6, 0.4
_SETTLED_WITHIN_SECS = 600
# Work that hangs or was abandoned is soon repeated, and polls come often.
_HASTE = {
    "EVALUATOR_REQUEST_TIMEOUT_MS": "2000",
    "EVALUATOR_MAX_ATTEMPTS": "50",
    "EVALUATOR_WORKERS": "4",
    "INGEST_CLAIM_IDLE_SECS": "5",
}


def unsteady(dice: random.Random) -> Answer:
    """Returns an answer that is another one each time."""
    answers: list[tuple[int, Answer]] = [
        (60, scored()),
        (15, scored(after=0.5)),
        (10, pending(next_poll_secs=1)),
        (10, reply(500)),
        (5, scored(after=1.8)),
    ]
    weights = [weight for weight, _ in answers]

    def answer(exchange: Exchange) -> None:
        dice.choices(answers, weights)[0][1](exchange)

    return answer


def blow(faults: Faults, number: int, secs: float | None, evaluator: Evaluator) -> None:
    """Causes that many faults, a random time apart; spread over `secs` if they are given."""
    started = time.monotonic()
    for count in range(1, number + 1):
        if secs is None:
            faults.pause(_LONGEST_PAUSE_SECS)
        else:
            ahead = count / number * secs - (time.monotonic() - started)
            faults.pause(max(_SHORTEST_PAUSE_SECS, 2 * ahead))
        name = faults.cause_one()
        evaluator.requests.clear()  # their bodies would fill the memory
        click.echo(f"{time.monotonic() - started:6.1f} s  {count:4}  {name}")


class Load(Protocol):
    """The load of a storm, of the organizations `slugs`. `answers` counts each answer that came."""

    @property
    def answers(self) -> Mapping[str, int]: ...

    def start(self) -> None: ...

    def finish(self) -> None: ...

    @property
    def slugs(self) -> Sequence[str]: ...

    def sessions(self, clickhouse: Client, /) -> Mapping[str, int]: ...

    def problems(self, clickhouse: Client, /) -> Iterator[str]: ...


@dataclass(frozen=True)
class Storm:
    """The request of the user: so many faults in `minutes`, or as fast as they come."""

    faults: int
    seed: int
    minutes: float | None = None
    data: Path | None = None


def run(storm: Storm, make_load: Callable[[Deployment], Load]) -> list[str]:
    """Runs a storm, prints a report, and returns the problems that it left."""
    said: list[str] = []
    secs = None if storm.minutes is None else storm.minutes * 60
    with ExitStack() as stack:
        evaluator = stack.enter_context(running_evaluator())
        evaluator.default = unsteady(random.Random(f"{storm.seed}-answers"))
        evaluator.config = reply(200, {"inactivity_timeout_secs": 20})
        around = stack.enter_context(surrounded(storm.data))
        if len(around.disks) < len(STORES):
            click.echo("no disk becomes full: they need root to mount them, and no --data")
        make = partial(DisturbedDeployment, around)
        given = {**_HASTE, "EVALUATOR_ENDPOINT": evaluator.url}
        deployment = stack.enter_context(
            deployed(said.append, directory=around.directory, make=make, **given)
        )
        load = make_load(deployment)
        load.start()
        faults = Faults(deployment, around, storm.seed)
        try:
            blow(faults, storm.faults, secs, evaluator)
        finally:
            faults.end()
            load.finish()
        lasted, left = wait_until_settled(deployment, _SETTLED_WITHIN_SECS)
        clickhouse = Client.from_url(deployment.stack.clickhouse.url)
        sessions = load.sessions(clickhouse)
        found = [*load.problems(clickhouse), *problems(deployment, sessions, load.slugs)]
        if left:
            found.append(f"after {lasted:.0f} s it is not QUIET: {left}")
        clickhouse.disconnect()
    report(faults, load, sessions, lasted)
    return found


def report(faults: Faults, load: Load, sessions: Mapping[str, int], secs: float) -> None:
    """Prints the faults by their kinds, the answers, and the time until nothing was left to do."""
    for name, count in sorted(faults.caused.items()):
        click.echo(f"{count:5}  {name}")
    click.echo(f"answers to requests: {dict(sorted(load.answers.items()))}")
    events = sum(sessions.values())
    click.echo(f"{events:,} events of {len(sessions):,} sessions; settled {secs:.0f} s after")


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--faults", default=200, show_default=True)
@click.option("--seed", default=None, type=int, help="of the faults and answers; random by default")
@click.option("--rate", default=600, show_default=True, help="events or spans a second that arrive")
@click.option("--minutes", default=None, type=float, help="spread the faults over this time")
@click.option("--otlp", is_flag=True, help="send spans of OpenTelemetry instead of events")
@click.option("--organizations", default=0, help="send sessions of so many organizations instead")
@click.option("--json", "keeps", is_flag=True, help="add the result to bench/results/chaos.json")
@click.option(
    "--data", type=click.Path(path_type=Path), help="directory that keeps stores and logs"
)
def main(
    faults: int,
    seed: int | None,
    rate: int,
    minutes: float | None,
    otlp: bool,
    organizations: int,
    data: Path | None,
    *,
    keeps: bool,
) -> None:
    chosen = random.randrange(10**6) if seed is None else seed
    click.echo(f"seed {chosen}")
    make_load: Callable[[Deployment], Load]
    if organizations:
        make_load = partial(OrganizationsLoad, rate=rate, seed=chosen, count=organizations)
    else:
        make_load = partial(OtlpLoad if otlp else EventLoad, rate=rate, seed=chosen)
    origin = results.origin() if keeps else None
    found = run(Storm(faults, chosen, minutes, data), make_load)
    if origin is not None:
        results.keep_storm(
            results.Storm(
                seed=chosen,
                minutes=minutes,
                faults=faults,
                organizations=organizations,
                problems=found,
                changed=origin.changed,
            ),
            origin.commit,
        )
    for problem in found:
        click.echo(f"PROBLEM: {problem}")
    click.echo("verdict: " + ("FAILED" if found else "nothing lost, nothing doubled"))
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main(prog_name="python -m bench.storm")
