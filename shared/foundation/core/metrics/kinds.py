"""Kinds of metrics. While metrics are off, counting costs a comparison and imports nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import prometheus_client

# Stands for a value outside of a label's closed set.
OTHER = "other"
# The permitted values of a label. None: the code that counts has only so many, such as routes.
Values = tuple[str, ...] | None

# Seconds: of requests and of waits.
FAST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# Seconds: of work that may wait for others.
SLOW = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
# Events of an insert.
ROWS = (1.0, 10.0, 100.0, 500.0, 1000.0, 2500.0, 5000.0, 10_000.0, 20_000.0, 32_768.0, 65_536.0)


@dataclass
class Metric:
    """A metric with its name, its description for operators and its labels."""

    name: str
    help: str
    labels: Mapping[str, Values] = field(default_factory=dict)

    def bounded(self, values: Sequence[str]) -> Sequence[str]:
        """Returns the values of the labels, `other` for those outside of a closed set."""
        return [
            value if known is None or value in known else OTHER
            for value, known in zip(values, self.labels.values(), strict=True)
        ]


@dataclass
class Counter(Metric):
    """A number of this process that only grows."""

    kind: Literal["counter"] = "counter"
    live: "prometheus_client.Counter | None" = None

    def add(self, amount: float, *labels: str) -> None:
        """Adds to the number; does nothing while metrics are off."""
        if self.live is not None:
            series = self.live.labels(*self.bounded(labels)) if labels else self.live
            series.inc(amount)


@dataclass
class Histogram(Metric):
    """A distribution in this process."""

    buckets: tuple[float, ...] = FAST
    kind: Literal["histogram"] = "histogram"
    live: "prometheus_client.Histogram | None" = None

    def observe(self, value: float, *labels: str) -> None:
        """Adds a value; does nothing while metrics are off."""
        if self.live is not None:
            series = self.live.labels(*self.bounded(labels)) if labels else self.live
            series.observe(value)


@dataclass
class Gauge(Metric):
    """A number that is read when a monitoring system asks.

    `of_deployment`: it is the same in every process, so one process type alone answers for it.
    """

    of_deployment: bool = True
    kind: Literal["gauge"] = "gauge"


@dataclass(frozen=True)
class MetricReading:
    """The value of a gauge, or of a counter that the operating system keeps, at this moment."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()
