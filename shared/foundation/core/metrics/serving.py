"""Counts in this process and answers scrapes, with `prometheus_client`.

Only `exporter` imports this, and only while metrics are on.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, start_http_server, values
from prometheus_client import Counter as LiveCounter
from prometheus_client import Histogram as LiveHistogram
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.multiprocess import MultiProcessCollector

from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics import processes
from shared.foundation.core.metrics.catalogue import ALL
from shared.foundation.core.metrics.kinds import Counter, Histogram, MetricReading
from shared.foundation.core.metrics.slots import ProcessSlots

log = get_logger(__name__)

RETRY_SECS = 5.0

Read = Callable[[], Iterable[MetricReading]]


def count_in(slots: ProcessSlots, slot: int) -> None:
    """Lets all counters and histograms of this process count in the files of a slot."""
    # The library reads it where it opens files.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(slots.directory)
    values.ValueClass = values.MultiProcessValue(lambda: slot)
    nowhere = CollectorRegistry()
    for metric in ALL:
        labels = list(metric.labels)
        if isinstance(metric, Counter):
            metric.live = LiveCounter(metric.name, metric.help, labels, registry=nowhere)
        elif isinstance(metric, Histogram):
            metric.live = LiveHistogram(
                metric.name, metric.help, labels, registry=nowhere, buckets=metric.buckets
            )


def answer(slots: ProcessSlots, address: tuple[str, int], more: Read | None) -> None:
    """Listens once no other process of the type does; returns when it does."""
    slots.wait_for_turn()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(slots, more))
    host, port = address
    while True:
        try:
            start_http_server(port, host, registry)
        except OSError as error:
            log.warning("metrics_not_served", port=port, reason=error.strerror)
            time.sleep(RETRY_SECS)
        else:
            log.info("metrics_served", address=f"{host}:{port}")
            return


class _Collector:
    """Everything that a scrape of one process type returns; one scrape at a time."""

    def __init__(self, slots: ProcessSlots, more: Read | None) -> None:
        self._slots = slots
        self._counted = MultiProcessCollector(None, str(slots.directory))
        self._more = more
        self._turn = threading.Lock()

    def collect(self) -> Iterator[Family]:
        """Yields the metrics."""
        with self._turn:
            found = list(processes.readings(self._slots))
            if self._more is not None:
                found += self._more()
            yield from self._counted.collect()
            yield from _families(found)


def _families(readings: Iterable[MetricReading]) -> Iterable[Family]:
    families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
    for reading in readings:
        metric = reading.metric
        make = CounterMetricFamily if isinstance(metric, Counter) else GaugeMetricFamily
        if metric.name not in families:
            families[metric.name] = make(metric.name, metric.help, labels=list(metric.labels))
        families[metric.name].add_metric(reading.labels, reading.value)
    return families.values()
