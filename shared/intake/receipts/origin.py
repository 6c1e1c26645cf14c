"""The origin of a request: the way in, the key, and what the sender says about itself."""

import re
from typing import Literal, NamedTuple, Protocol

from shared.foundation.core.text import storable

Source = Literal["events", "import", "otlp_http", "otlp_grpc"]

# The longest sender, machine id and service.
MAX_CHARS = 128

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


# In lower case. The second name is the one that clients of AgentEye send.
_MACHINE = ("x-watchpost-machine-id", "x-failproofai-machine-id")


class Headers(Protocol):
    """Headers by their names in lower case, as HTTP and gRPC have them."""

    def get(self, name: str, default: str, /) -> str:
        """Returns a header."""


class Origin(NamedTuple):
    """The first part of a receipt's row; "" where a request does not say.

    `sender` is the User-Agent. Senders choose `sender`, `machine_id` and services, so Redis bounds
    the number of rows of an hour (`folding`).
    """

    source: Source
    key_id: str = ""
    sender: str = ""
    machine_id: str = ""

    @classmethod
    def of_request(cls, source: Source, key_id: object, headers: Headers) -> "Origin":
        """Returns the origin of a request; `key_id` is None without a key."""
        given = (headers.get(name, "") for name in _MACHINE)
        machine_id = next(filter(None, given), "")
        key = "" if key_id is None else str(key_id)
        return cls(source, key, headers.get("user-agent", ""), machine_id)

    @property
    def base(self) -> str:
        """Returns the text that names this origin in Redis, a line for each part."""
        return "\n".join((self.source, self.key_id, _clean(self.sender), _clean(self.machine_id)))

    def of(self, service: str = "") -> str:
        """Returns the text that names this origin and a service."""
        return with_service(self.base, service)


def with_service(base: str, service: str) -> str:
    """Returns the text that names an origin (`Origin.base`) and a service."""
    return f"{base}\n{_clean(service)}"


def _clean(text: str) -> str:
    text = text[:MAX_CHARS]
    if text.isprintable():
        return text
    return storable(_CONTROL.sub("_", text))
