"""How sure a share is, and how much a finding concerns: what several signals judge alike."""

import math

from shared.audits.signals.interface import Look, Magnitude

# Of a normal distribution: 97.5 % lie below, so a bound errs in one of forty cases.
_Z = 1.96
_MEDIUM_SHARE, _BIG_SHARE = 0.05, 0.2


def at_least(hits: int, total: int) -> float:
    """The lower bound of the share that `hits` of `total` are a sample of, 0 to 1.

    Wilson's score interval: 1 of 2 says no more than 0.09, 50 of 100 say 0.40.
    """
    if total <= 0:
        return 0.0
    share, z2 = hits / total, _Z * _Z
    spread = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    return max(0.0, (share + z2 / (2 * total) - spread) / (1 + z2 / total))


def at_least_sql(hits: str, total: str) -> str:
    """SQL of `at_least` of two expressions, for what is chosen in the database; NaN for none."""
    # Floats, since the square of a count does not fit into one.
    n = f"toFloat64({total})"
    share = f"({hits}) / {n}"
    spread = f"{_Z} * sqrt({share} * (1 - {share}) / {n} + {_Z * _Z / 4} / ({n} * {n}))"
    return f"(({share} + {_Z * _Z / 2} / {n} - {spread}) / (1 + {_Z * _Z} / {n}))"


def magnitude(share: float) -> Magnitude:
    """`small` below a twentieth, `big` from a fifth on."""
    if share < _MEDIUM_SHARE:
        return "small"
    return "medium" if share < _BIG_SHARE else "big"


def share_of_sessions(look: Look, sessions: int) -> float:
    """Which share of the window's sessions these are; 0 where their number is not known."""
    return min(1.0, sessions / look.total_sessions) if look.total_sessions > 0 else 0.0
