"""The times at which a result may have copies.

A retry stores a result again, as a copy in another part: one part never has two copies, because
inserts and merges remove them. Copies have the same time. So they can only be where the times of
two parts overlap, and only there the parts have to be merged (`FINAL`). Results are stored in their
order, so the times of parts hardly ever overlap.
"""

from collections.abc import Iterable
from itertools import pairwise

from shared.evaluations.source import Range

# More ranges in one statement take longer to plan than the rows between them to merge.
MAX_RANGES = 16


def overlaps(spans: Iterable[Range]) -> list[Range]:
    """Returns the ranges that lie in more than one of `spans`, in order.

    There are at most `MAX_RANGES`: of more, those with the shortest gaps are joined.
    """
    found: list[Range] = []
    reached: int | None = None
    for first, last in sorted(spans):
        if reached is not None and first <= reached:
            found.append((first, min(last, reached)))
        reached = last if reached is None else max(last, reached)
    return _joined(found)


def _joined(found: list[Range]) -> list[Range]:
    """Joins ranges that overlap, and the nearest ones of too many."""
    gaps = sorted((after[0] - before[1] for before, after in pairwise(found)))
    most = gaps[-MAX_RANGES] if len(gaps) >= MAX_RANGES else 0
    joined = found[:1]
    for first, last in found[1:]:
        if first - joined[-1][1] <= most:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined
