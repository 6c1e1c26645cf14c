"""Measures previews of alerts over a week of a million events.

    python -m bench.previews [--events 1000000] [--times 5]

Generates a week of one organization's events and results inside ClickHouse (`bench/week.py`), and
replays rules with windows of five minutes to a week over it, 336 windows each. Prints the median
time of each.
"""

import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

# Lets `python bench/previews.py` find its neighbours, as `python -m bench.previews` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from bench.site import Site
from bench.week import DAYS, fill
from shared.access import organizations
from shared.foundation.core.clock import now
from shared.foundation.core.config import load_settings
from shared.foundation.core.logs import configure_logging
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation.preview import RuleDraft, preview
from shared.watch.alerts.evaluation.triggers.interface import RuleContext

_WINDOWS = {"5min": 300, "1h": 3600, "1d": 86_400, "7d": 7 * 86_400}
_METRICS = ("event_count", "error_rate", "session_count", "p95_latency_ms")
_SCORE = {"score_key": "accuracy", "op": "<", "value": 0.5}


def rules() -> list[tuple[str, str, dict[str, Any]]]:
    """Returns the name, the kind and the spec of each rule."""
    of_metrics = [
        (f"{metric}_{name}", "metric_threshold", _threshold(metric, secs))
        for metric in _METRICS
        for name, secs in _WINDOWS.items()
    ]
    of_scores = [
        (f"score_{name}", "evaluation_score", {**_SCORE, "window_secs": secs})
        for name, secs in _WINDOWS.items()
    ]
    event = {"event_type": "error", "lookback_secs": 300}
    return [
        *of_metrics,
        *of_scores,
        ("event", "per_event", event),
        ("event_with_text", "per_event", {**event, "message_contains": "refused"}),
    ]


def _threshold(metric: str, window_secs: int) -> dict[str, Any]:
    return {"metric": metric, "op": ">", "value": 1e12, "window_secs": window_secs}


def measure(events: int = 1_000_000, times: int = 5) -> dict[str, float]:
    """Fills a site, replays rules, and returns the median milliseconds of each."""
    values: dict[str, float] = {}
    with ExitStack() as stack:
        site = stack.enter_context(Site(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        site.start_stores()
        settings = load_settings(site.environ)
        configure_logging(settings, "bench")
        runtime = Runtime.connect(settings)
        stack.callback(runtime.close)
        with runtime.postgres.transaction() as session:
            org_id = str(organizations.create(session, f"bench-{time.time_ns()}").id)
        client = site.clickhouse()
        stack.callback(client.disconnect)
        fill(client, org_id, events)
        context = RuleContext(runtime, QueryRunner(runtime, pool_size=1), org_id)
        begins, ends = now() - timedelta(days=DAYS), now()
        for name, kind, spec in rules():
            draft = RuleDraft(kind, spec, 1, 1, 300, begins, ends)
            took = []
            for _ in range(times):
                began = time.perf_counter()
                preview(context, draft, schema="")
                took.append(time.perf_counter() - began)
            values[f"previews.{name}"] = statistics.median(took) * 1000
    return values


@click.command(help=__doc__.splitlines()[0] if __doc__ else None)
@click.option("--events", default=1_000_000, help="events in the week")
@click.option("--times", default=5, help="previews of each rule")
def main(events: int, times: int) -> None:
    """Prints the times."""
    for line in lines_of(figures_of(measure(events, times))):
        click.echo(line)


if __name__ == "__main__":
    main()
