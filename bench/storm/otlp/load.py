"""Agents that are traced at a steady rate, and requests that are sent again in other ways."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from clickhouse_driver import Client
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from bench.storm.otlp.agents import Agent, Announcer
from bench.storm.otlp.checks import stored_sessions, trace_problems
from bench.storm.otlp.ledger import Ledger
from bench.storm.otlp.ways import WAYS, exporter_of
from devstack.up.deployment import Deployment

# Agents of each way, whose spans share an exporter.
_AGENTS = 6
_FLUSH_MS = 30_000
_BATCH_SPANS = 48
_BATCH_MS = 200
# The share of answered requests that are kept to be sent again, and how many are kept at most.
_KEPT_SHARE = 0.2
_KEPT = 400
_REPEATERS = 2
_REPEAT_EVERY_SECS = 0.4

Spans = Sequence[ReadableSpan]


class Witness(SpanExporter):
    """An exporter that notes what became of each request."""

    def __init__(
        self, way: str, exporter: SpanExporter, ledger: Ledger, answered: Callable[[Spans], None]
    ) -> None:
        self._way, self._exporter, self._ledger = way, exporter, ledger
        self._answered = answered

    def export(self, spans: Spans) -> SpanExportResult:
        """Sends a request. One that fails is given up, as the SDK does."""
        result = self._exporter.export(spans)
        success = result is SpanExportResult.SUCCESS
        self._ledger.note(self._way, spans, success=success)
        if success:
            self._answered(spans)
        return result

    def shutdown(self) -> None:
        """Shuts the exporter down."""
        self._exporter.shutdown()


class OtlpLoad:
    """Traces of all ways at about `rate` spans a second together, until `finish`."""

    def __init__(self, deployment: Deployment, rate: int, seed: int) -> None:
        self._deployment, self._seed = deployment, seed
        self._ledger = Ledger()
        self._secs_a_span = len(WAYS) * _AGENTS / rate
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._kept: list[Spans] = []
        self._dice = random.Random(f"{seed}-kept")
        self._providers: list[TracerProvider] = []
        self._threads: list[threading.Thread] = []

    @property
    def slugs(self) -> tuple[str, ...]:
        """The organization."""
        return ("default",)

    def start(self) -> None:
        """Starts the agents, and what sends again."""
        for way in WAYS:
            provider = TracerProvider(resource=Resource({"service.name": f"bot-{way}"}))
            exporter = exporter_of(way, self._deployment)
            processor = BatchSpanProcessor(
                Witness(way, exporter, self._ledger, self._keep),
                schedule_delay_millis=_BATCH_MS,
                max_export_batch_size=_BATCH_SPANS,
            )
            provider.add_span_processor(processor)
            provider.add_span_processor(Announcer(processor))
            self._providers.append(provider)
            tracer = provider.get_tracer("bench.storm")
            for number in range(_AGENTS):
                agent = Agent(tracer, f"{way}-{number}", f"{self._seed}-{way}-{number}")
                self._run(self._take_turns, agent)
        for number in range(_REPEATERS):
            self._run(self._repeat, random.Random(f"{self._seed}-again-{number}"))

    def finish(self) -> None:
        """Ends the turns, and waits until all requests were answered or given up."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        for provider in self._providers:
            provider.force_flush(_FLUSH_MS)
            provider.shutdown()

    @property
    def answers(self) -> Counter[str]:
        """The numbers of requests by way and outcome, and of spans by outcome."""
        return self._ledger.answers + self._ledger.totals()

    def sessions(self, clickhouse: Client) -> dict[str, int]:
        """Returns the number of stored events of each session."""
        return stored_sessions(clickhouse)

    def problems(self, clickhouse: Client) -> Iterator[str]:
        """Yields what is wrong about the stored events."""
        yield from trace_problems(clickhouse, self._ledger.traces())

    def _run(self, target: Callable[..., None], argument: object) -> None:
        thread = threading.Thread(target=target, args=(argument,))
        self._threads.append(thread)
        thread.start()

    def _take_turns(self, agent: Agent) -> None:
        due = time.monotonic()
        while not self._stopping.is_set():
            due += agent.take_turn() * self._secs_a_span
            self._stopping.wait(max(0.0, due - time.monotonic()))

    def _keep(self, spans: Spans) -> None:
        with self._lock:
            if self._dice.random() >= _KEPT_SHARE:
                return
            if len(self._kept) < _KEPT:
                self._kept.append(spans)
            else:
                self._kept[self._dice.randrange(_KEPT)] = spans

    def _repeat(self, dice: random.Random) -> None:
        """Sends answered requests again: as they were, cut differently, in another format."""
        exporters = {way: exporter_of(way, self._deployment) for way in WAYS}
        while not self._stopping.wait(dice.uniform(0, 2 * _REPEAT_EVERY_SECS)):
            with self._lock:
                if not self._kept:
                    continue
                chosen = dice.sample(self._kept, min(len(self._kept), dice.choice((1, 1, 3))))
            way = dice.choice(WAYS)
            for spans in _cut(chosen, dice):
                for _ in range(2):
                    result = exporters[way].export(spans)
                    self._ledger.count(f"{way} again, {result.name.lower()}")
        for exporter in exporters.values():
            exporter.shutdown()


def _cut(requests: list[Spans], dice: random.Random) -> list[Spans]:
    """Returns the spans in requests that are cut in another way, or one request as it was."""
    if len(requests) == 1:
        return requests
    spans = [span for request in requests for span in request]
    dice.shuffle(spans)
    size = dice.randint(5, len(spans))
    return [spans[start : start + size] for start in range(0, len(spans), size)]
