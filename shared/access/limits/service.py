"""Admits or refuses the requests of a process by the limits of their organizations."""

import uuid
from typing import cast

from shared.access.limits.counting import LimitCounts
from shared.access.limits.rules import MODE, NAMES, REPORT, SETTINGS, LimitRules, Quota
from shared.access.settings.reading import several
from shared.foundation.cache import EpochCache
from shared.foundation.core.errors import RateLimited
from shared.foundation.deployment.runtime import Runtime


class OverLimit(RateLimited):
    """A request that its limits do not allow; `quotas` are all that counted it."""

    def __init__(self, quotas: tuple[Quota, ...]) -> None:
        worst = max(quotas, key=lambda quota: quota.retry_secs)
        setting = SETTINGS[NAMES.index(worst.name)]
        super().__init__(
            f"over the limit of {worst.limit} {_UNITS[worst.name]} ({setting}): try again in"
            f" {worst.retry_secs} s",
            code="over_limit",
            retry_after_secs=worst.retry_secs,
        )
        self.quotas = quotas


_UNITS = {
    "key_requests": "requests a second of a key",
    "key_events": "events a second of a key",
    "org_events": "events a day of an organization",
}


class Limits:
    """The limits of one process. Without limits a request costs nothing."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._rules: EpochCache[str, LimitRules] = EpochCache()
        self._counts = LimitCounts(runtime.redis)

    def admit(
        self, org_id: str, key_id: str, epoch: bytes | None, events: int | None
    ) -> tuple[Quota, ...]:
        """Counts a request of a key, "" for none, that brings `events`; None for one that reads.

        `epoch` is one that was read before (see `EpochCache`); with None (Redis was down) reads go
        on uncounted. Redis may be back by now, and would accept events, so these are counted.
        Returns the quotas, none in the soft mode. Raises `OverLimit` before anything of the request
        is stored, and `Unavailable` if a store that is needed is down.
        """
        if epoch is None and events is None:
            return ()
        rules = self._rules.get(org_id, epoch, lambda: load_rules(self._runtime, org_id))
        if not _counts(rules, key_id, events):
            return ()
        taken = self._counts.take(rules, org_id, key_id, requests=1, events=events or 0)
        if not rules.enforced:
            return ()
        if not taken.within:
            raise OverLimit(taken.quotas)
        return taken.quotas


def load_rules(runtime: Runtime, org_id: str) -> LimitRules:
    """Reads the limits of an organization. Raises `Unavailable`."""
    with runtime.postgres.transaction() as session:
        found = several(session, runtime.settings, uuid.UUID(org_id), (*SETTINGS, MODE))
    requests, key_events, org_events = (cast("int", found[key]) for key in SETTINGS)
    return LimitRules(requests, key_events, org_events, enforced=found[MODE] != REPORT)


def _counts(rules: LimitRules, key_id: str, events: int | None) -> bool:
    """Returns whether a limit concerns such a request."""
    if key_id and rules.key_requests:
        return True
    return events is not None and bool((key_id and rules.key_events) or rules.org_events)
