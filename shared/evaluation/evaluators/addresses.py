"""The addresses that evaluators may have: public ones, and those that the operator allows.

`EVALUATOR_ALLOW_PRIVATE` is unset (public ones only), `1` (all), or a list of hosts, addresses and
networks. The guard looks at a URL when it is published, and at the addresses of each connection.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, urlsplit

from shared.access.settings.rules import masked_url
from shared.foundation.core.addresses import is_public
from shared.foundation.core.errors import ConfigurationError, Invalid

MAX_URL_CHARS = 2000

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class EvaluatorAddresses:
    """The addresses beside public ones that evaluators may have."""

    every: bool = False
    hosts: frozenset[str] = frozenset()
    networks: tuple[IpNetwork, ...] = ()

    def admits(self, address: str, host: str) -> bool:
        """Returns whether a URL with this host may lead to this textual address."""
        if self.every or is_public(address) or host.lower() in self.hosts:
            return True
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self.networks)


@cache
def allowed_addresses(variable: str | None) -> EvaluatorAddresses:
    """Reads EVALUATOR_ALLOW_PRIVATE; raises `ConfigurationError` for an entry that is none."""
    entries = [entry.strip().lower() for entry in (variable or "").split(",")]
    if entries in ([""], ["0"]):
        return EvaluatorAddresses()
    if entries == ["1"]:
        return EvaluatorAddresses(every=True)
    hosts, networks = set(), []
    for entry in entries:
        try:
            networks.append(ipaddress.ip_network(entry.strip("[]"), strict=False))
        except ValueError:
            if not _HOST.fullmatch(entry):
                raise ConfigurationError(
                    "EVALUATOR_ALLOW_PRIVATE: expected 1, or hosts, addresses and networks with"
                    " commas"
                ) from None
            hosts.add(entry)
    return EvaluatorAddresses(hosts=frozenset(hosts), networks=tuple(networks))


def require_url(field: str, value: object, allowed: EvaluatorAddresses) -> str:
    """Returns an http(s) URL without credentials and fragment.

    Raises `Invalid` naming the field, also for a literal address that is not allowed. Names are
    looked up at each call.
    """
    parts = _parts(value)
    if not isinstance(value, str) or parts is None:
        raise Invalid.field(
            field,
            "must be an http or https URL with a host, without credentials and fragment, of at most"
            f" {MAX_URL_CHARS} characters",
        )
    if value == masked_url(value):
        raise Invalid.field(field, "is shortened: send the whole URL")
    host = parts.hostname or ""
    literal = _literal(host)
    if literal is not None and not allowed.admits(literal, host):
        raise Invalid.field(
            field,
            "the address is not public: the operator of this deployment can allow it with"
            " EVALUATOR_ALLOW_PRIVATE",
        )
    return value


def origin_of(url: str) -> str:
    """Returns the origin of a URL in one spelling: `https://host`, with a port only if unusual."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    is_usual = parts.port in (None, _DEFAULT_PORTS[parts.scheme])
    return f"{parts.scheme}://{shown}" + ("" if is_usual else f":{parts.port}")


def _parts(value: object) -> SplitResult | None:
    if not isinstance(value, str) or len(value) > MAX_URL_CHARS or "#" in value:
        return None
    if not value.isprintable() or any(map(str.isspace, value)) or "\\" in value:
        return None
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return None
    has_all = parts.scheme in _DEFAULT_PORTS and bool(host) and "@" not in parts.netloc
    return parts if has_all else None


def _literal(host: str) -> str | None:
    """Returns the address that a host is, in any spelling that systems read, or None for a name."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeEncodeError):
        return None
