"""Who does something about an incident."""

import uuid
from dataclasses import dataclass

# Whom what the service itself does is attributed to.
SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """A person or a key: `id` of the account or key, `name` for attribution.

    `email` is None for a key that acts for nobody: it is no subscriber, whatever its name.
    """

    id: uuid.UUID
    name: str
    email: str | None
