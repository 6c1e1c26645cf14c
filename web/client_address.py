"""Where a request comes from, as far as that can be known, for limits by client."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network

from flask import request

from web.state import runtime

_HEADER = "X-Forwarded-For"
_BRACKETED = re.compile(r"\[([^\]]*)\](?::\d+)?")
_V4_WITH_PORT = re.compile(r"([\d.]+):\d+")


def client_of_request() -> str:
    """The client's IPv4 address, or the /64 network of its IPv6 address.

    The client is the peer, or behind TRUSTED_PROXY_HOPS proxies whom the first of them says it
    heard: that many entries from the right. What stands left of that anybody can write. Where the
    header has fewer entries, or no address in that place, the peer counts.
    """
    peer = request.remote_addr or ""
    hops = runtime().settings.trusted_proxy_hops
    if hops > 0:
        entries = request.headers.get(_HEADER, "").split(",")
        forwarded = _normal(entries[-hops]) if len(entries) >= hops else None
        if forwarded is not None:
            return forwarded
    return _normal(peer) or peer


def _normal(text: str) -> str | None:
    """`203.0.113.7`, `2001:db8::/64`; None for what is no address.

    Ports, brackets and zones are left out, and an IPv4 address inside IPv6 is itself. A network of
    64 bits is what one customer has at least, who could use a new address for every request.
    """
    bare = text.strip()
    found = _BRACKETED.fullmatch(bare) or _V4_WITH_PORT.fullmatch(bare)
    if found:
        bare = found[1]
    try:
        return str(IPv4Address(bare))
    except AddressValueError:
        pass
    try:
        address = IPv6Address(bare.partition("%")[0])
    except AddressValueError:
        return None
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), 64), strict=False))
