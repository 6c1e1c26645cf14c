"""Addresses of the public Internet, and those of our own networks."""

import ipaddress

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


def is_surely_private(host: str) -> bool:
    """Returns whether a host of a URL is in a network of ours, without a look-up of its name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal"))
    return not is_public(host)
