"""Decides from counts which shares of failed calls grew since the window before."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shared.watch.audits.signals.families import GroupedEvents
from shared.watch.audits.signals.interface import Sensitivity


@dataclass(frozen=True)
class ShareThreshold:
    """The definition of failing more often.

    `min_total` calls in each window, of which `min_failed` failed in `min_sessions` sessions: one
    session that tries again and again is no drift. The share grew by `difference`, to `ratio` times
    the former share, and is `z` standard deviations above it, because several dozen shares are
    compared.
    """

    min_total: int
    min_failed: int
    min_sessions: int
    difference: float
    ratio: float
    z: float


THRESHOLDS: Mapping[Sensitivity, ShareThreshold] = {
    "low": ShareThreshold(50, 10, 5, 0.15, 2.0, 5.0),
    "medium": ShareThreshold(20, 5, 3, 0.08, 1.5, 4.0),
    "high": ShareThreshold(10, 3, 2, 0.03, 1.25, 3.0),
}


@dataclass(frozen=True)
class Share:
    """The calls of a group: `failed` of `total` now and before, and `sessions` with a failure now.

    `variance` belongs to the difference of both shares, with sessions as draws. The variance of
    single draws is used if it is larger.
    """

    family: GroupedEvents
    name: str
    total: int
    failed: int
    total_before: int
    failed_before: int
    sessions: int
    variance: float = 0.0

    @property
    def group(self) -> str:
        """The unique name of the share."""
        return self.family.group(self.name)

    @property
    def rate(self) -> float:
        """The share now, 0 to 1."""
        return self.failed / self.total

    @property
    def before(self) -> float:
        """The share in the window before, 0 to 1."""
        return self.failed_before / self.total_before

    @property
    def z(self) -> float:
        """The growth in standard deviations, pooled over both windows."""
        pooled = (self.failed + self.failed_before) / (self.total + self.total_before)
        binomial = pooled * (1 - pooled) * (1 / self.total + 1 / self.total_before)
        variance = max(binomial, self.variance)
        return (self.rate - self.before) / math.sqrt(variance) if variance else 0.0

    def drifts(self, than: ShareThreshold) -> bool:
        """Returns whether the share exceeds every part of the threshold."""
        return (
            min(self.total, self.total_before) >= than.min_total
            and self.failed >= than.min_failed
            and self.sessions >= than.min_sessions
            and self.rate - self.before >= than.difference
            and self.rate >= than.ratio * self.before
            and self.z >= than.z
        )

    def only(self, sessions: int) -> "Share":
        """Returns the same share with only this many failed sessions."""
        return replace(self, failed=sessions, sessions=sessions)


def variance_of(totals: Sequence[int], squares: Sequence[int]) -> float:
    """Returns the variance of the difference of two shares, from the sums of `_SHARES`."""
    n1, k1, n0, k0 = totals
    pooled = (k1 + k0) / (n1 + n0)
    variance = 0.0
    for total, (kk, kn, nn) in ((n1, squares[:3]), (n0, squares[3:])):
        if total:
            variance += (kk - 2 * pooled * kn + pooled**2 * nn) / total**2
    return variance
