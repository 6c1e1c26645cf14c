"""Weights that several signals share: the certainty of a share, and the severity and size."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shared.watch.audits.signals.interface import Look, Magnitude, Sensitivity, Severity
from shared.watch.audits.signals.reading import MAX_CANDIDATES

# Normal distribution: 97.5 % lie below, so a bound is wrong in one of forty cases.
_Z = 1.96
_MEDIUM_SHARE, _BIG_SHARE = 0.05, 0.2


def at_least(hits: int, total: int) -> float:
    """Returns the lower bound of the share that a sample of `hits` in `total` suggests, 0 to 1.

    Wilson's score interval: 1 of 2 gives only 0.09, 50 of 100 give 0.40.
    """
    if total <= 0:
        return 0.0
    share, z2 = hits / total, _Z * _Z
    spread = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    return max(0.0, (share + z2 / (2 * total) - spread) / (1 + z2 / total))


def at_least_sql(hits: str, total: str) -> str:
    """Returns SQL of `at_least` for selections in the database; NaN for a total of 0."""
    # Floats, because the square of a count does not fit into an integer.
    n = f"toFloat64({total})"
    share = f"({hits}) / {n}"
    spread = f"{_Z} * sqrt({share} * (1 - {share}) / {n} + {_Z * _Z / 4} / ({n} * {n}))"
    return f"(({share} + {_Z * _Z / 2} / {n} - {spread}) / (1 + {_Z * _Z} / {n}))"


@dataclass(frozen=True)
class FailureRate:
    """At least `min_failures` of a group failed, and almost surely `min_rate` of all or more fail.

    The rate is the lower bound of `at_least_sql`.
    """

    min_failures: int
    min_rate: float

    @property
    def condition(self) -> str:
        """The condition on `failures` and `rate`; its numbers are constants of the signals."""
        return f"(failures >= {self.min_failures} AND rate >= {self.min_rate})"


def most_failing(
    thresholds: Mapping[Sensitivity, FailureRate], sensitivity: Sensitivity, group: str
) -> str:
    """Returns the SQL that keeps the groups above the threshold, the worst first.

    Groups found at a lower sensitivity come first, so that a higher one has room for all of them.
    """
    found_by = ", ".join(f"{one.condition} DESC" for one in thresholds.values())
    return f"""HAVING {thresholds[sensitivity].condition}
ORDER BY {found_by}, rate DESC, failures DESC, {group}
LIMIT {MAX_CANDIDATES}"""


def severity(*, critical: bool = False, warning: bool) -> Severity:
    """Returns the highest severity whose condition holds, else `info`."""
    if critical:
        return "critical"
    return "warning" if warning else "info"


def magnitude(value: float, *, medium: float = _MEDIUM_SHARE, big: float = _BIG_SHARE) -> Magnitude:
    """Returns the size of a finding by the values from which it is `medium` and `big`.

    By default `value` is a share: `medium` from a twentieth on, and `big` from a fifth on.
    """
    if value < medium:
        return "small"
    return "medium" if value < big else "big"


def share_of_sessions(look: Look, sessions: int) -> float:
    """Returns the share of the window's sessions; 0 if their number is unknown."""
    return min(1.0, sessions / look.total_sessions) if look.total_sessions > 0 else 0.0
