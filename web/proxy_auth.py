"""The person whom a trusted proxy has signed in, by a header (docs/use/people.md)."""

import hmac
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from flask import request

from shared.foundation.core.config import Settings
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import ConfigurationError, Invalid, Unauthorized

SECRET_HEADER = "X-Service-Proxy-Secret"  # noqa: S105 the name of a header, not a secret

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class ProxyAuth:
    """The header, and by what a request of the proxy is known: its secret, its address, or both."""

    header: str
    secret: str | None = field(repr=False)
    networks: tuple[Network, ...]

    def address_of_request(self) -> str | None:
        """Returns the address of the person, None for a request that is not the proxy's.

        Somebody else's header is ignored, as if it were not there. Raises `Unauthorized` if the
        proxy sends something else than one address.
        """
        given = request.headers.get(self.header)
        if given is None or not self._is_proxy():
            return None
        try:
            return normal_address(given)
        except Invalid:
            raise Unauthorized(
                f"the proxy sends no e-mail address in {self.header}: sign in there again"
            ) from None

    def _is_proxy(self) -> bool:
        if self.networks and not self._is_from(request.remote_addr or ""):
            return False
        if self.secret is None:
            return True
        given = request.headers.get(SECRET_HEADER, "").encode("latin-1", errors="replace")
        return hmac.compare_digest(given, self.secret.encode())

    def _is_from(self, peer: str) -> bool:
        # The peer of the connection, never X-Forwarded-For, which clients can write.
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self.networks)


def proxy_auth_of(settings: Settings) -> ProxyAuth | None:
    """Returns what is configured, None without PROXY_AUTH_HEADER.

    Raises `ConfigurationError` if everybody could send the header, or if a variable is not valid.
    """
    header, secret = settings.proxy_auth_header, settings.proxy_auth_secret
    networks = tuple(_network(one) for one in (settings.proxy_auth_from or "").split(",") if one)
    if header is None:
        if secret is not None or networks:
            raise ConfigurationError("PROXY_AUTH_HEADER is not set, and the others need it")
        return None
    if header.lower() in _OWN:
        raise ConfigurationError("PROXY_AUTH_HEADER: this header has another meaning here")
    if secret is None and not networks:
        raise ConfigurationError(
            "PROXY_AUTH_HEADER needs PROXY_AUTH_SECRET, PROXY_AUTH_FROM or both: without them"
            " everybody could send it"
        )
    return ProxyAuth(header, secret, networks)


# These decide about something else in every request.
_OWN = frozenset(
    {
        "authorization",
        "cookie",
        "host",
        "origin",
        "x-service-actor",
        "x-service-org",
        SECRET_HEADER.lower(),
    }
)


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip())
    except ValueError:
        raise ConfigurationError(
            "PROXY_AUTH_FROM: expected addresses or networks, comma-separated"
        ) from None
