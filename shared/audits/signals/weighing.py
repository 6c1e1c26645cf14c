"""Statistics that several signals share: the certainty of a share, and the size of a finding."""

import math

from shared.audits.signals.interface import Look, Magnitude

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


def magnitude(share: float) -> Magnitude:
    """Returns `small` below a twentieth, `big` from a fifth on."""
    if share < _MEDIUM_SHARE:
        return "small"
    return "medium" if share < _BIG_SHARE else "big"


def share_of_sessions(look: Look, sessions: int) -> float:
    """Returns the share of the window's sessions; 0 if their number is unknown."""
    return min(1.0, sessions / look.total_sessions) if look.total_sessions > 0 else 0.0
