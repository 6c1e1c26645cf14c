"""Measures the recall and the precision of the signals of audits.

    python -m bench.faults [--seeds 1001-1020]

For each seed, two days are drawn from the airline recording (`tests/support/days.py`). One
organization stores them as they are. For each fault (`tests/support/faults.py`,
docs/change/signals.md)
another organization stores them with the fault in the second day. All signals look at the second
day of each, at medium sensitivity.

Recall is the share of the expected findings that were found. Precision is the share of findings
that are a fault or follow from one; the findings that the recording itself has are left out, and
any other finding in the untouched days counts against it. The thresholds were tuned with seeds 1
to 10, so use other seeds.
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click

# Lets `python bench/faults.py` find its neighbours, as `python -m bench.faults` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from shared.foundation.deployment.runtime import Runtime
from shared.watch.audits.signals import NAMES, SIGNALS
from shared.watch.audits.signals.interface import Candidate
from tests.support.airline import load_airline
from tests.support.days import WINDOW, Days, Template, days, store, templates_of
from tests.support.faults import FAULTS
from tests.support.injection import Expected, Fault, inject, is_natural
from tests.support.looks import look_at
from tests.support.runtime import connected, make_org, migrated, settings_for
from tests.support.stack import running_stack


@dataclass
class Tally:
    """The expected and the actual findings, by signal. `strange` are findings without a fault."""

    expected: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    strange: Counter[str] = field(default_factory=Counter)

    def judge(
        self,
        what: str,
        found: list[Candidate],
        expected: tuple[Expected, ...],
        more: tuple[Expected, ...],
    ) -> None:
        """Counts the findings of one organization, and prints those that are missing or strange."""
        for one in expected:
            self.expected[one.signal] += 1
            if any(map(one.is_met, found)):
                self.met[one.signal] += 1
            else:
                click.echo(f"  {what}: not found: {one.signal} {one.subject or ''}")
        for candidate in found:
            if any(one.is_met(candidate) for one in (*expected, *more)):
                self.right[candidate.signal] += 1
            elif not is_natural(candidate):
                self.strange[candidate.signal] += 1
                click.echo(f"  {what}: {candidate.signal}: {candidate.title}")


def audit(runtime: Runtime, org_id: str) -> list[Candidate]:
    """Returns all findings of the second day."""
    look = look_at(runtime.clickhouse, org_id, WINDOW)
    return [candidate for name in NAMES for candidate in SIGNALS[name](look)]


def untouched(runtime: Runtime, made: Days, tally: Tally, seed: int) -> str:
    """Judges the days without a fault and returns the id of their organization."""
    org = make_org(runtime)
    store(runtime.clickhouse, org.id, made)
    tally.judge(f"{seed} untouched", audit(runtime, org.id), (), ())
    return org.id


def faulty(runtime: Runtime, made: Days, like: str, tally: Tally, seed: int, fault: Fault) -> None:
    """Judges the days with a fault."""
    case, org = inject(made, seed, fault), make_org(runtime)
    store(runtime.clickhouse, org.id, case.days, like=like, changed=case.changed)
    found = audit(runtime, org.id)
    injected = case.injected
    tally.judge(f"{seed} {fault.__name__}", found, injected.expected, injected.consequences)


def run(runtime: Runtime, templates: list[Template], seeds: range) -> Tally:
    """Judges all organizations of all seeds. The servers hold those of one seed at a time."""
    tally = Tally()
    for seed in seeds:
        started = time.monotonic()
        made = days(templates, seed)
        like = untouched(runtime, made, tally, seed)
        for fault in FAULTS:
            faulty(runtime, made, like, tally, seed, fault)
        for table in ("events", "agent_sessions", "evaluations"):
            runtime.clickhouse.execute(f"TRUNCATE TABLE {table}")
        click.echo(f"seed {seed}: {time.monotonic() - started:.0f} s")
    return tally


def measure(seeds: range = range(1001, 1021)) -> dict[str, float]:
    """Starts servers and judges all seeds; returns recall and precision, and the counts."""
    with running_stack() as stack:
        settings = settings_for(stack.urls)
        migrated(settings)
        with connected(settings) as runtime:
            tally = run(runtime, templates_of(load_airline()), seeds)
    right, strange = tally.right.total(), tally.strange.total()
    values = {
        "faults.recall": tally.met.total() / tally.expected.total(),
        "faults.precision": right / (right + strange),
    }
    for name in NAMES:
        values |= {
            f"faults.{name}_expected": tally.expected[name],
            f"faults.{name}_found": tally.met[name],
            f"faults.{name}_of_faults": tally.right[name],
            f"faults.{name}_of_nothing": tally.strange[name],
        }
    return values


def _range(_context: click.Context, _parameter: click.Parameter, value: str) -> range:
    first, _, last = value.partition("-")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError:
        raise click.BadParameter("expected a number, or two with a dash between them") from None


@click.command(help=__doc__)
@click.option("--seeds", default="1001-1020", show_default=True, callback=_range)
def main(seeds: range) -> None:
    """Prints the figures."""
    for line in lines_of(figures_of(measure(seeds))):
        click.echo(line)


if __name__ == "__main__":
    main()
