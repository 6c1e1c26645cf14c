"""The addresses that people's URLs may lead to: public ones, never those of our networks."""

import ipaddress
import socket

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

# All of the public IPv6 Internet. Outside are loopback, link-local, unique local, multicast, NAT64
# and every form with an IPv4 address in its last bytes.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")

# IANA's special-purpose registry, except for the two IPv4 networks of ordinary hosts (AS112).
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network; 0.0.0.0 itself reaches loopback
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' NAT, and metadata services of clouds
        "127.0.0.0/8",
        "168.63.129.16/32",  # a public number that is Azure's metadata service
        "169.254.0.0/16",  # link-local, and metadata services of clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "2001::/23",  # Teredo, which holds an IPv4 address, and protocols
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which holds an IPv4 address
        "3fff::/20",  # documentation
    )
)


class NotPublic(OSError):
    """People's URLs may not lead to the address; the message never contains it."""

    def __init__(self) -> None:
        super().__init__("the address is not public")


def is_public(text: str) -> bool:
    """Returns whether a textual address, as the operating system reads it, is public."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in _NOT_PUBLIC):
        return False
    # A zone (`fe80::1%eth0`) refers to one of our own networks.
    return isinstance(address, ipaddress.IPv4Address) or (
        address in _GLOBAL_V6 and address.scope_id is None
    )


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
