"""When canaries came through, as every group of ingest processes writes it into Redis."""

from typing import Any

import msgspec
import redis

# The parts of the pipeline, in the order in which an event passes them.
PARTS = ("web", "redis", "ingest", "postgres", "clickhouse")

_KEY = "canary"
# A group that says nothing for so long, beyond its interval, has ended or was killed.
_GONE_SECS = 60.0
# A group whose canary waits speaks every second, or after the longest request to a store.
_SILENT_SECS = 65.0
# A canary that is late for longer than this did not come through.
_MOST_SLACK_SECS = 25.0
_LEAST_SLACK_SECS = 2.0


class Passage(msgspec.Struct):
    """The state of a group; times are of Redis's clock, in seconds.

    `since`: when the group began. `came_at`: when its last canary came through. `said_at`: when it
    said this. `part`: the part that stops the present canary, None if nothing does. `begins`: the
    part at which its canaries begin, `redis` if it knows no address of web.
    """

    interval: float
    since: float
    came_at: float | None
    said_at: float
    part: str | None
    begins: str

    @property
    def last(self) -> float:
        """The moment since which no canary came through."""
        return self.since if self.came_at is None else self.came_at

    def allowed_secs(self, max_lag_secs: float) -> float:
        """Returns the age of the last canary up to which all is well."""
        slack = min(_MOST_SLACK_SECS, max(_LEAST_SLACK_SECS, self.interval / 2))
        if self.part == "ingest":
            slack = max(slack, max_lag_secs)
        return self.interval + slack


class CanaryState(msgspec.Struct, frozen=True):
    """The state of all groups together.

    `age_secs`: since the last canary of any group came through, and `begins` is where that group's
    begin. `allowed_secs`: the age up to which all is well. `late`: the groups that say since longer
    than that that none of theirs came through. `part` stops the canary of the one that waits
    longest, else of the one whose canary came last. `failing`: the groups that each part stops.
    """

    age_secs: float
    allowed_secs: float
    part: str | None
    begins: str
    late: int
    failing: dict[str, int]

    @property
    def is_late(self) -> bool:
        """Whether a group does not bring its canaries through, or none does."""
        return self.late > 0 or self.age_secs > self.allowed_secs


def say(client: redis.Redis, group: str, passage: Passage) -> None:
    """Stores what a group says, and forgets groups that are gone; raises the client's errors."""
    client.hset(_KEY, group, msgspec.json.encode(passage))
    gone = [name for name, one in _all(client).items() if _is_gone(one, passage.said_at)]
    if gone:
        client.hdel(_KEY, *gone)


def leave(client: redis.Redis, group: str) -> None:
    """Forgets a group that ends; raises the client's errors."""
    client.hdel(_KEY, group)


def now(client: redis.Redis) -> float:
    """Returns the time by Redis's clock; raises the client's errors."""
    seconds, microseconds = client.time()
    return float(seconds) + float(microseconds) / 1_000_000


def state(client: redis.Redis, max_lag_secs: float) -> CanaryState | None:
    """Returns the state; None if no group has said anything lately.

    A canary that waits for ingest like all other events may be as late as they (`max_lag_secs`).
    Raises the client's errors.
    """
    moment = now(client)
    found = [one for one in _all(client).values() if not _is_gone(one, moment)]
    if not found:
        return None
    newest = max(found, key=lambda one: one.last)
    # Silence makes no group late, and a late one that was killed does not stay late.
    late = [
        one
        for one in found
        if one.said_at - one.last > one.allowed_secs(max_lag_secs)
        and moment - one.said_at <= _SILENT_SECS
    ]
    failing = dict.fromkeys(PARTS, 0)
    for one in found:
        if one.part is not None:
            failing[one.part] += 1
    return CanaryState(
        age_secs=max(0.0, moment - newest.last),
        allowed_secs=newest.allowed_secs(max_lag_secs),
        part=min(late, key=lambda one: one.last, default=newest).part,
        begins=newest.begins,
        late=len(late),
        failing=failing,
    )


def _is_gone(passage: Passage, moment: float) -> bool:
    return moment - passage.said_at > 2 * passage.interval + _GONE_SECS


def _all(client: redis.Redis) -> dict[bytes, Passage]:
    said: Any = client.hgetall(_KEY)
    found = {}
    for group, text in said.items():
        try:
            found[group] = msgspec.json.decode(text, type=Passage)
        except msgspec.MsgspecError:
            # Another release wrote it.
            continue
    return found
