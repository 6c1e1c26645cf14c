"""The short check: ratios within one run, compared with those that are written down.

Continuous integration runs on machines of any speed and load, so only ratios count, and only one
that has halved is an error. The events are those of the demonstration, because every checkout can
make them.
"""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from bench.deployments import deployed
from bench.figures import Figure
from bench.ingest import measure_run
from bench.record import is_worse, read
from bench.suite import Values
from devstack.up.recording import record

REFERENCE = Path(__file__).with_name("reference.json")

_COPIES = 12
_RUNS = 3
_SENDERS = 8
_HALVED = 2.0


def measure() -> Values:
    """Measures the ratios, in about a minute."""
    lines = list(record().lines)
    with deployed(lambda _line: None) as deployment:
        # The first run warms the processes up.
        runs = [
            measure_run(deployment, lines, _COPIES, _SENDERS, number) for number in range(_RUNS + 1)
        ][1:]
    return {
        "check.accepted_to_raw": statistics.median(run.accepted / run.raw for run in runs),
        "check.queryable_to_raw": statistics.median(run.queryable / run.raw for run in runs),
    }


def halved(figures: Sequence[Figure]) -> Iterator[str]:
    """Prints each ratio next to its reference, and yields those that have halved."""
    reference = read(REFERENCE)
    values = {figure.name: figure.value for figure in reference.figures}
    for figure in figures:
        was = values[figure.name]
        click.echo(f"{figure.name:32}{figure.value:8.3g}  at {reference.commit}: {was:.3g}")
        if is_worse(figure, was, _HALVED):
            yield f"{figure.name} is {figure.value:.3g}; it was {was:.3g} at {reference.commit}"
