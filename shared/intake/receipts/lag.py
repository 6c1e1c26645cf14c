"""The time from an answer to the stored batch, in a histogram that can be added up."""

import math
from collections.abc import Mapping

# A bucket is this much wider than the one before, so a quantile is exact within 5 %.
_GROWTH = math.log(1.1)
LARGEST = ">lag_ms"
_BUCKET = "lag."


def lag_tally(lag_ms: int) -> dict[str, int]:
    """Returns the tally of one batch."""
    lag_ms = max(0, lag_ms)
    return {f"{_BUCKET}{int(math.log(lag_ms + 1) / _GROWTH)}": 1, LARGEST: lag_ms}


def median_ms(tally: Mapping[str, int]) -> int | None:
    """Returns the median of a tally in milliseconds; None without batches."""
    buckets = sorted(
        (int(name.removeprefix(_BUCKET)), count)
        for name, count in tally.items()
        if name.startswith(_BUCKET)
    )
    half = sum(count for _, count in buckets) / 2
    for bucket, count in buckets:
        half -= count
        if half <= 0:
            # The middle of the bucket, of which the longest one may be in the lower half.
            return min(round(math.exp((bucket + 0.5) * _GROWTH)) - 1, tally[LARGEST])
    return None
