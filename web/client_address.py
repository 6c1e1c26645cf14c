"""The address of a request's client, as far as it can be known, for limits and the audit log."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network

from flask import request

from web.state import runtime

_HEADER = "X-Forwarded-For"
_BRACKETED = re.compile(r"\[([^\]]*)\](?::\d+)?")
_V4_WITH_PORT = re.compile(r"([\d.]+):\d+")


def client_of_request() -> str:
    """Returns the client's IPv4 address, or the /64 network of its IPv6 address.

    A customer has at least a network of 64 bits and could use a new address for every request.
    """
    address = address_of_request()
    try:
        return str(IPv6Network((int(IPv6Address(address)), 64), strict=False))
    except AddressValueError:
        return address


def address_of_request() -> str:
    """Returns the client's address.

    Without proxies the client is the peer. Behind TRUSTED_PROXY_HOPS proxies it is that many
    entries from the right in the header, as the first of these proxies saw it. Anybody can forge
    the entries to the left. When the header has fewer entries, or no address in that place, the
    peer counts.
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
    """Returns `203.0.113.7` or `2001:db8::7`, or None for a text that is no address.

    Ports, brackets and zones are dropped, and an IPv4 address inside IPv6 becomes itself.
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
    return str(address)
