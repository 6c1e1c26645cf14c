"""The person, key or system that an action is attributed to."""

import uuid
from dataclasses import dataclass


@dataclass(frozen=True)
class Actor:
    """A person or a key: `id` of the account or key, `name` for attribution.

    `email` is None for a key that acts for no person: such an actor subscribes to nothing, whatever
    its name.
    """

    id: uuid.UUID
    name: str
    email: str | None


# The service itself, for actions that no person or key asked for.
SYSTEM = Actor(uuid.UUID(int=0), "system", None)
