"""Redis's append-only file after its disk was full.

If a write ends early, Redis and Valkey (seen with 9.1.2) undo it, but keep their place in a file
that a rewrite has begun. The next write leaves a hole of zeros, and the server refuses to start
again. Writing the file again while the server runs leaves the hole out.
"""

import redis
from redis.exceptions import ResponseError

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.queue.connection import unavailable_when_redis_is_gone

log = get_logger(__name__)


def could_not_be_written(error: Unavailable) -> bool:
    """Returns whether Redis refused a command because it cannot write to its disk."""
    cause = error.__cause__
    return isinstance(cause, ResponseError) and "MISCONF" in str(cause)


def rewrite(client: redis.Redis) -> None:
    """Lets Redis write its append-only file again, in the background.

    Raises `Unavailable` if Redis is down. A server that does not permit it, such as a managed one,
    is left alone.
    """
    try:
        with unavailable_when_redis_is_gone():
            client.bgrewriteaof()
    except ResponseError as error:
        log.warning("redis_file_not_rewritten", reason=str(error))
    else:
        log.info("redis_file_rewritten", reason="its disk was full")
