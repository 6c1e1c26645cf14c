"""Counts requests and events against limits: one script in Redis, so all processes share the count.

A key has two buckets, which fill at the rate of their limit and hold one second of it. A request is
admitted while its bucket has something left, and may then take more than that: a batch of any size
is accepted as a whole, and later requests wait until the bucket has filled again. So the rate holds
on average, and no batch is too large for a limit. A bucket is the moment until which it is used up.
The events of a day (UTC) are a plain count, which no batch exceeds.

The library `limits`, which counts attempts to sign in, makes a round trip for each limit and cannot
take more than is left, so it does not fit here.

What is refused takes nothing. In the soft mode the same requests are counted as refused, and take
nothing either, but they are admitted.
"""

from typing import Any, NamedTuple

import redis

from shared.access.limits.rules import DAY_SECS, NAMES, LimitRules, Quota, quota_of
from shared.foundation.queue import unavailable_when_redis_is_gone

# Days for which the counts of a day are kept.
_KEPT_DAYS = 3

# KEYS: the buckets of the key, and the first part of the names of the organization's days.
# ARGV: the three limits, requests, events, and whether there is a key.
# Returns the number of limits that refuse, and for each limit: whether it counts this request, what
# remains, the microseconds until all is free, and those until such a request is admitted.
_TAKE = f"""
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local day = math.floor(clock[1] / {DAY_SECS})
local requests, events, has_key = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
local answer, buckets, refused = {{}}, {{}}, {{}}
for i, cost in ipairs({{requests, events}}) do
    local rate = tonumber(ARGV[i])
    if rate > 0 and has_key and cost > 0 then
        local used_until = math.max(now, tonumber(redis.call('GET', KEYS[i]) or 0))
        local left = rate - (used_until - now) * rate / 1000000
        local wait = left < 1 and (1 - left) * 1000000 / rate or 0
        if wait > 0 then refused[#refused + 1] = i end
        buckets[i] = {{rate, cost, used_until}}
        answer[i] = {{1, left, used_until - now, wait}}
    else
        answer[i] = {{0, 0, 0, 0}}
    end
end
local most, today = tonumber(ARGV[3]), KEYS[3] .. day
local midnight = (day + 1) * {DAY_SECS} * 1000000 - now
local used = tonumber(redis.call('HGET', today, 'events') or 0)
answer[3] = {{0, 0, 0, 0}}
if most > 0 then
    local over = events > 0 and used + events > most
    if over then refused[#refused + 1] = 3 end
    answer[3] = {{1, most - used, midnight, over and midnight or 0}}
end
if #refused > 0 then
    redis.call('HINCRBY', today, 'refused_requests', 1)
    redis.call('HINCRBY', today, 'refused_events', events)
    for _, i in ipairs(refused) do redis.call('HINCRBY', today, 'refused_by_' .. i, 1) end
else
    for i, bucket in pairs(buckets) do
        local rate, cost = bucket[1], bucket[2]
        local used_until = bucket[3] + cost * 1000000 / rate
        redis.call('SET', KEYS[i], string.format('%.0f', used_until),
            'PX', math.ceil((used_until - now) / 1000) + 1)
        answer[i][2], answer[i][3] = answer[i][2] - cost, used_until - now
    end
    if events > 0 then redis.call('HINCRBY', today, 'events', events) end
    if most > 0 then answer[3][2] = answer[3][2] - events end
end
redis.call('EXPIRE', today, {_KEPT_DAYS * DAY_SECS})
local flat = {{#refused}}
for _, one in ipairs(answer) do
    for _, number in ipairs(one) do flat[#flat + 1] = string.format('%.3f', number) end
end
return flat
"""


class LimitUse(NamedTuple):
    """Whether a request is within its limits, and the limits that counted it."""

    within: bool
    quotas: tuple[Quota, ...]


class Day(NamedTuple):
    """The counts of the present day of an organization.

    `events` were admitted within the limits. `refused_by` has the requests by limit; a request
    that was over several limits counts for each.
    """

    start_secs: int
    events: int
    refused_requests: int
    refused_events: int
    refused_by: dict[str, int]


class LimitCounts:
    """The counts of one deployment."""

    def __init__(self, client: redis.Redis) -> None:
        self._redis = client
        self._take = client.register_script(_TAKE)

    def take(
        self, rules: LimitRules, org_id: str, key_id: str, *, requests: int, events: int
    ) -> LimitUse:
        """Counts a request in one round trip; "" stands for no key. Raises `Unavailable`."""
        limits = [getattr(rules, name) for name in NAMES]
        keys = [f"limits:{org_id}:{key_id}:{kind}" for kind in ("requests", "events")]
        with unavailable_when_redis_is_gone():
            said: Any = self._take(
                keys=[*keys, _days(org_id)], args=[*limits, requests, events, int(bool(key_id))]
            )
        refused, *texts = said
        numbers = [float(text) for text in texts]
        found = [
            quota_of(name, limit, *numbers[4 * i + 1 : 4 * i + 4])
            for i, (name, limit) in enumerate(zip(NAMES, limits, strict=True))
            if numbers[4 * i]
        ]
        return LimitUse(not refused, tuple(found))

    def today(self, org_id: str) -> Day:
        """Returns the counts of the present day. Raises `Unavailable`."""
        with unavailable_when_redis_is_gone():
            seconds, _ = self._redis.time()
            found: Any = self._redis.hgetall(f"{_days(org_id)}{seconds // DAY_SECS}")
        counts = {name.decode(): int(n) for name, n in found.items()}
        return Day(
            start_secs=seconds - seconds % DAY_SECS,
            events=counts.get("events", 0),
            refused_requests=counts.get("refused_requests", 0),
            refused_events=counts.get("refused_events", 0),
            refused_by={
                name: counts.get(f"refused_by_{i}", 0) for i, name in enumerate(NAMES, start=1)
            },
        )


def _days(org_id: str) -> str:
    return f"limits:{org_id}:days:"
