"""The metrics of evaluation jobs name the evaluator, as a scrape of real workers shows."""

from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devstack.ports import free_port
from shared.foundation.core.metrics.exporter import port_of
from tests.support import evaluator as behave
from tests.support.jobs import Bench
from tests.support.processes import running, wait_until
from tests.support.scrape import scrape

pytestmark = pytest.mark.flow

SECRET = "word-in-an-address"


def test_outcomes_and_ages_name_the_evaluator(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    host = urlsplit(bench.evaluator.url).netloc
    port = next(port for port in iter(free_port, None) if port < 65_000)
    bench.configure(metrics_port=port, evaluator_endpoint=f"{bench.evaluator.url}/?{SECRET}")
    bench.evaluator.default = behave.reply(202, {"job_id": "1", "next_poll_secs": 600})
    bench.enqueue("running")
    bench.run()
    bench.pass_time(100)
    bench.evaluator.default = behave.scored()
    bench.enqueue("scored")
    settings = bench.runtime.settings
    evaluator, background = (port_of(settings, name) for name in ("evaluator", "background"))
    assert evaluator is not None
    assert background is not None
    with ExitStack() as processes:
        for group in ("evaluator", "background"):
            processes.enter_context(running("workers.main", group, settings=settings))
        processes.enter_context(running("workers.clock", settings=settings))
        outcome = f'watchpost_evaluation_outcomes_total{{evaluator="{host}",outcome="scored"}}'
        wait_until(lambda: scraped(evaluator).get(outcome) == 1)
        counted = scraped(evaluator)
        assert counted[f'watchpost_evaluation_age_seconds_count{{evaluator="{host}"}}'] == 1
        state = f'{{evaluator="{host}",status="polling"}}'
        wait_until(lambda: scraped(background).get(f"watchpost_evaluation_jobs{state}") == 1)
        gauges = scraped(background)
        assert gauges[f"watchpost_evaluation_jobs_age_seconds{state}"] >= 100
        assert gauges[f'watchpost_evaluation_oldest_job_seconds{{evaluator="{host}"}}'] == 0
        assert not [name for name in counted | gauges if SECRET in name]


def scraped(port: int) -> dict[str, float]:
    """Returns the series; none while nothing listens."""
    try:
        return scrape(port)
    except OSError:
        return {}
