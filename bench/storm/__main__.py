"""Checks that nothing acknowledged is lost or doubled while everything fails at random moments.

    python -m bench.storm [--faults 200] [--seed S] [--rate 600] [--data DIR]

Starts its own deployment. Copies of the airline recording arrive at a steady rate; a batch is sent
again until it is acknowledged, and one in twenty once more after that. The evaluator answers at
once, after a while, with polls, or with 500. Meanwhile one fault after the other happens: processes
of web, workers and clock are killed or stopped, and so are Redis, ClickHouse and PostgreSQL, and
their connections are cut.

Afterwards every event must be stored once with the bytes that were sent, every session must be
listed once and have one result of one automatic job, and nothing may be left to do. Ends with an
error otherwise. `--data` keeps the stores and logs for a look at them.
"""

import random
import sys
import time
from functools import partial
from pathlib import Path

import click

# Lets `python bench/storm` find its neighbours, as `python -m bench.storm` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.deployments import deployed
from bench.storm.checks import problems, wait_until_settled
from bench.storm.faults import Faults
from bench.storm.load import Load
from devstack.up.deployment import Deployment
from tests.support.airline import load_airline
from tests.support.evaluator import (
    Answer,
    Evaluator,
    Exchange,
    pending,
    reply,
    running_evaluator,
    scored,
)

_LONGEST_PAUSE_SECS = 2.6
_SETTLED_WITHIN_SECS = 300
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


def blow(faults: Faults, number: int, evaluator: Evaluator) -> None:
    """Causes that many faults, a random time apart."""
    started = time.monotonic()
    for count in range(1, number + 1):
        faults.pause(_LONGEST_PAUSE_SECS)
        name = faults.cause_one()
        evaluator.requests.clear()  # their bodies would fill the memory
        click.echo(f"{time.monotonic() - started:6.1f} s  {count:4}  {name}")
    faults.end()


def run(faults: int, seed: int, rate: int, data: Path | None) -> list[str]:
    """Runs a storm. Returns the problems that it left."""
    said: list[str] = []
    lines = list(load_airline().recent().lines)
    with running_evaluator() as evaluator:
        evaluator.default = unsteady(random.Random(f"{seed}-answers"))
        evaluator.config = reply(200, {"inactivity_timeout_secs": 20})
        given = {**_HASTE, "EVALUATOR_ENDPOINT": evaluator.url}
        # A killed program starts again after a second at most.
        impatient = partial(Deployment, longest_pause=1.0)
        with deployed(said.append, directory=data, make=impatient, **given) as deployment:
            load = Load(int(deployment.environ["PORT"]), deployment.admin_key, lines, rate, seed)
            load.start()
            storm = Faults(deployment, seed)
            blow(storm, faults, evaluator)
            copies = load.finish()
            expected = load.expected(copies)
            secs = wait_until_settled(deployment, len(expected), _SETTLED_WITHIN_SECS)
            found = [*load.wrong, *problems(deployment, expected)]
    for name, count in sorted(storm.caused.items()):
        click.echo(f"{count:5}  {name}")
    click.echo(f"answers to batches: {dict(load.answers)}")
    events = sum(content.events for content in expected.values())
    click.echo(f"{events:,} events of {len(expected):,} sessions; settled {secs:.0f} s after")
    return found


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--faults", default=200, show_default=True)
@click.option("--seed", default=None, type=int, help="of the faults and answers; random by default")
@click.option("--rate", default=600, show_default=True, help="events a second that arrive")
@click.option(
    "--data", type=click.Path(path_type=Path), help="directory that keeps stores and logs"
)
def main(faults: int, seed: int | None, rate: int, data: Path | None) -> None:
    chosen = random.randrange(10**6) if seed is None else seed
    click.echo(f"seed {chosen}")
    found = run(faults, chosen, rate, data)
    for problem in found:
        click.echo(f"PROBLEM: {problem}")
    click.echo("verdict: " + ("FAILED" if found else "nothing lost, nothing doubled"))
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main(prog_name="python -m bench.storm")
