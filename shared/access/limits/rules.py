"""The limits of an organization, and what a count against them says."""

import math
from dataclasses import dataclass
from typing import Literal

Name = Literal["key_requests", "key_events", "org_events"]
NAMES: tuple[Name, ...] = ("key_requests", "key_events", "org_events")
DAY_SECS = 86_400

# The settings of the limits above, and that of the mode.
SETTINGS = ("limits.key_requests_per_sec", "limits.key_events_per_sec", "limits.org_events_per_day")
MODE = "limits.mode"
REPORT = "report"


@dataclass(frozen=True)
class LimitRules:
    """The numbers of the settings, 0 for no limit; `enforced` is False in the soft mode."""

    key_requests: int = 0
    key_events: int = 0
    org_events: int = 0
    enforced: bool = True

    def __bool__(self) -> bool:
        return bool(self.key_requests or self.key_events or self.org_events)


@dataclass(frozen=True)
class Quota:
    """A limit of `limit` in `window_secs`: how much is left, and when it is all free again.

    `retry_secs` is the time until a request is admitted, 0 if this one was.
    """

    name: Name
    limit: int
    window_secs: int
    remaining: int
    reset_secs: int
    retry_secs: int


def quota_of(name: Name, limit: int, left: float, reset_us: float, retry_us: float) -> Quota:
    """Returns a quota from the numbers of the script (`counting`)."""
    return Quota(
        name=name,
        limit=limit,
        window_secs=DAY_SECS if name == "org_events" else 1,
        remaining=max(0, math.floor(left)),
        reset_secs=math.ceil(reset_us / 1e6),
        retry_secs=max(1, math.ceil(retry_us / 1e6)) if retry_us > 0 else 0,
    )
