"""A client for one delivery over HTTP to any URL, which may hang, drip, redirect or flood."""

import asyncio
import ssl
from collections.abc import Mapping
from concurrent.futures import Future

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver

from shared.foundation.core.attempts import parse_retry_after
from shared.foundation.core.clock import now
from shared.watch.incidents.deliveries.rules import NoReceiverAnswer, ReceiverAnswer
from workers.call_loop import CallLoop
from workers.deliveries.addresses import NotPublic, PublicOnly, require_public
from workers.deliveries.resolver import ThreadPerLookup
from workers.http import Request, answer_to, read_bounded

# The limit of a whole delivery: resolving, connecting, the request and every byte of the answer.
DEADLINE_SECS = 10.0

# A receiver may send more, but it is not read.
MAX_ANSWER_BYTES = 64 * 1024

# The error that people see if the deployment does not deliver to private addresses.
NOT_PUBLIC = (
    "the address of the webhook is not public: the operator of this deployment can allow it with"
    " WEBHOOK_ALLOW_PRIVATE=1"
)


class DeliveryClient:
    """A client that sends many deliveries at once, each within its deadline; thread-safe."""

    def __init__(
        self,
        *,
        allow_private: bool,
        deadline_secs: float = DEADLINE_SECS,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self.deadline_secs = deadline_secs
        inner = ThreadPerLookup() if resolver is None else resolver
        self._resolver = inner if allow_private else PublicOnly(inner)
        self._check = None if allow_private else require_public
        self._loop = CallLoop("notifications-client")

    def start(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> Future[ReceiverAnswer | NoReceiverAnswer]:
        """Starts one attempt: a POST to `url`, which is encoded if necessary."""
        return self._loop.start(self._attempt(url, headers, body))

    def close(self) -> None:
        """Stops the event loop."""
        self._loop.close()

    async def _attempt(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> ReceiverAnswer | NoReceiverAnswer:
        if not url.startswith(("http://", "https://")):
            return NoReceiverAnswer("the webhook is not an http or https URL", is_final=True)
        answered = None
        try:
            request = Request("POST", yarl.URL(url), headers, body)
            async with (
                asyncio.timeout(self.deadline_secs),
                answer_to(request, resolver=self._resolver, check=self._check) as response,
            ):
                retry_after = parse_retry_after(response.headers.get("Retry-After"), now())
                answered = ReceiverAnswer(response.status, retry_after)
                # Reads on so that the receiver can finish. Its status already decides.
                await read_bounded(response, MAX_ANSWER_BYTES)
        except TimeoutError:
            return answered or NoReceiverAnswer(f"no answer within {self.deadline_secs:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return answered or _no_answer(error)
        return answered


def _no_answer(error: Exception) -> NoReceiverAnswer:
    """Returns a sentence for people, without addresses and without texts of the other side."""
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, NotPublic):
        return NoReceiverAnswer(NOT_PUBLIC, is_final=True)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return NoReceiverAnswer("the certificate of the receiver is not valid")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return NoReceiverAnswer("the receiver does not speak TLS")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return NoReceiverAnswer("the name of the receiver has no address")
    if isinstance(error, aiohttp.ClientConnectorError):
        return NoReceiverAnswer("the receiver could not be reached")
    if isinstance(error, aiohttp.ClientResponseError):
        return NoReceiverAnswer("the answer of the receiver is not HTTP")
    # Comes after certificate errors, which are ValueErrors too.
    if isinstance(error, ValueError):
        return NoReceiverAnswer("the URL of the webhook is not valid", is_final=True)
    return NoReceiverAnswer("the connection to the receiver broke")
