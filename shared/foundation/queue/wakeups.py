"""The moments at which tasks will have work, by Redis's clock. Workers write them.

The clock waits for the first one. Losing them costs little: the clock looks for work anyway.
"""

from typing import cast

import redis

# A sorted set: the name of an actor, and a moment in milliseconds.
MOMENTS = "wakeups"
# A channel on which a moment is announced that is earlier than all others.
_EARLIER = "wakeups:earlier"

_NOW = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
"""

_ADD = f"""{_NOW}
local moment = now + tonumber(ARGV[2])
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if known and tonumber(known) <= moment then
    return
end
redis.call('ZADD', KEYS[1], moment, ARGV[1])
if redis.call('ZRANGE', KEYS[1], 0, 0)[1] == ARGV[1] then
    redis.call('PUBLISH', '{_EARLIER}', '')
end
"""

_TAKE = f"""{_NOW}
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)
if #due > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {{due, first[2] and tonumber(first[2]) - now or -1}}
"""


class Wakeups:
    """The moments in one Redis; every method raises the errors of the client."""

    def __init__(self, client: redis.Redis) -> None:
        self._add = client.register_script(_ADD)
        self._take = client.register_script(_TAKE)
        # redis-py leaves it untyped.
        self._announced = client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]

    def add(self, actor: str, secs: float) -> None:
        """Wakes the actor in `secs`, unless it is woken earlier anyway."""
        self._add(keys=[MOMENTS], args=[actor, round(secs * 1000)])

    def take(self) -> tuple[list[str], float | None]:
        """Removes the moments that have come.

        Returns their actors, and the seconds until the next moment, None if there is none.
        """
        due, left_ms = cast("tuple[list[bytes], int]", self._take(keys=[MOMENTS]))
        return [actor.decode() for actor in due], None if left_ms < 0 else left_ms / 1000

    def wait(self, secs: float) -> None:
        """Returns after `secs`, or earlier when a moment became the first one; for one thread."""
        if not self._announced.subscribed:
            self._announced.subscribe(_EARLIER)
        # The timeout is ours, because Redis ends the time of a command that waits up to 0.1 s late.
        self._announced.get_message(timeout=secs)

    def close(self) -> None:
        """Closes the connection of `wait`."""
        self._announced.close()
