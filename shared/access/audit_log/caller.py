"""The caller of the request or command that is handled: who acts, and from where."""

import uuid
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from shared.foundation.core.logs import current_request_id

Kind = Literal["user", "key", "operator", "anonymous", "system"]
Way = Literal["web", "mcp", "orgctl", "system"]


@dataclass(frozen=True)
class Caller:
    """Somebody who acts, as a line of the log names them.

    `name` is a person's address, the name of a key, or the operator's account on the machine. `id`
    belongs to the account or the key. `key_name` is the instance key that acts for a person.
    `address` is the client's. `way` is the front end.
    """

    kind: Kind
    name: str
    way: Way
    id: uuid.UUID | None = None
    key_name: str | None = None
    address: str | None = None
    request_id: str | None = None


# The service itself: what happens at its start, and in workers.
SYSTEM = Caller("system", "system", "system")


def _system() -> Caller:
    return Caller("system", "system", "system", request_id=current_request_id())


_finder: ContextVar[Callable[[], Caller]] = ContextVar("audit_log_caller", default=_system)


def acting_as(find: Callable[[], Caller]) -> None:
    """Names the caller of what this thread does from now on; `find` runs only if it is recorded."""
    _finder.set(find)


def current_caller() -> Caller:
    """Returns the caller, the service itself if there is none."""
    return _finder.get()()
