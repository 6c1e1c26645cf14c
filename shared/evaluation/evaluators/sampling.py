"""The sample of an evaluator: which sessions are in it depends on their ids alone.

Anybody can compute it. A larger sample holds a smaller one, and evaluators with one seed have the
same sessions.
"""

import hashlib
from decimal import Decimal

Percent = float | Decimal


_ALL = 2**32


def is_sampled(seed: str, session_id: str, percent: Percent) -> bool:
    """Returns whether the session is in a sample of `percent` (0 to 100, two decimals)."""
    digest = hashlib.sha256(f"{seed}:{session_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < _bound(percent)


def sampled_sql(seed: str, percent: Percent) -> tuple[str, dict[str, object]]:
    """Returns the same as a condition of ClickHouse on `session_id`, and its parameters."""
    place = (
        "reinterpretAsUInt32(reverse(substring("
        "SHA256(concat({sample_seed:String}, ':', session_id)), 1, 4)))"
    )
    params: dict[str, object] = {"sample_seed": seed, "sample_bound": _bound(percent)}
    return f"{place} < {{sample_bound:UInt64}}", params


def _bound(percent: Percent) -> int:
    """Returns the number below which a session is in the sample.

    In hundredths of a percent a share has no error of rounding: 100 % is all, and 0 % nothing.
    """
    hundredths = round(percent * 100)
    return -(-hundredths * _ALL // 10_000)
