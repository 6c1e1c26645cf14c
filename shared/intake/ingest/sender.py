"""The sender of a request that adds something."""

from collections.abc import Callable
from typing import NamedTuple

from shared.intake.receipts.origin import Origin


def admit_all(_count: int) -> None:
    """Admits any number of events or records."""


class Sender(NamedTuple):
    """The organization that a request adds to, and what is known about the request.

    `epoch` is one that was read before (see `EpochCache`). Receipts count the request as one of
    `origin`. `admit` gets the number of good events or records before any is kept, and raises an
    error to refuse the request as a whole.
    """

    org_id: str
    org_slug: str
    epoch: bytes | None = None
    origin: Origin = Origin("events")
    admit: Callable[[int], object] = admit_all
