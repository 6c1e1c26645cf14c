"""The addresses that people's URLs may lead to: public ones, never those of our networks."""

import socket

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from shared.foundation.core.addresses import is_public


class NotPublic(OSError):
    """People's URLs may not lead to the address; the message never contains it."""

    def __init__(self) -> None:
        super().__init__("the address is not public")


def require_public(address: aiohttp.AddrInfoType) -> None:
    """Checks an address for `workers.http.answer_to`; raises `NotPublic`."""
    if not is_public(str(address[4][0])):
        raise NotPublic


class PublicOnly(AbstractResolver):
    """A wrapper around another resolver that refuses names with a private address.

    The connection uses exactly the addresses that it returns, and `require_public` checks them
    again there.
    """

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolves a name; raises `NotPublic`, and the errors of the other resolver."""
        found = await self._inner.resolve(host, port, family)
        if not all(is_public(one["host"]) for one in found):
            raise NotPublic
        return found

    async def close(self) -> None:
        """Closes the other resolver."""
        await self._inner.close()
