"""The configuration of sign-in at a provider, checked when `web` starts."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from shared.access.organizations.rules import require_slug
from shared.foundation.core import pages
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError, Invalid

CALLBACK_PATH = f"{pages.SIGN_IN}/oidc/callback"


@dataclass(frozen=True)
class GroupRule:
    """People with `value` in the claim `claim` get `permission_set` in the organization `slug`."""

    claim: str
    value: str
    slug: str
    permission_set: str


@dataclass(frozen=True)
class OidcConfig:
    """One client at one provider.

    `allowed_domains` are in lower case, and empty if every domain may sign in. The first of `rules`
    that matches decides about an organization.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(repr=False)
    scopes: str
    redirect_uri: str
    allowed_domains: frozenset[str]
    rules: tuple[GroupRule, ...]

    @property
    def group_claims(self) -> frozenset[str]:
        """Returns the claims that the rules read."""
        return frozenset(rule.claim for rule in self.rules)


def config_of(settings: Settings) -> OidcConfig:
    """Returns the configuration; raises `ConfigurationError` naming the variable."""
    if settings.oidc_issuer is None:
        raise ConfigurationError("OIDC_ISSUER is not set")
    if settings.public_url is None:
        raise ConfigurationError("PUBLIC_URL is not set, and OIDC_ISSUER needs it")
    if not is_safe_url(settings.oidc_issuer):
        raise ConfigurationError("OIDC_ISSUER must start with https://, except on loopback")
    if "openid" not in settings.oidc_scopes.split():
        raise ConfigurationError("OIDC_SCOPES must contain `openid`")
    return OidcConfig(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id or "",
        client_secret=settings.oidc_client_secret,
        scopes=settings.oidc_scopes,
        redirect_uri=settings.public_url.rstrip("/") + CALLBACK_PATH,
        allowed_domains=_domains(settings.oidc_allowed_domains or ""),
        rules=_rules(settings.oidc_groups or "{}"),
    )


def is_safe_url(url: str) -> bool:
    """Returns whether tokens may travel there: over TLS, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if not host or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _domains(text: str) -> frozenset[str]:
    domains = frozenset(one.strip().lower() for one in text.split(",") if one.strip())
    if any("@" in one or "*" in one or " " in one for one in domains):
        raise ConfigurationError(
            "OIDC_ALLOWED_DOMAINS: expected domains such as `example.org`, comma-separated"
        )
    return domains


def _rules(text: str) -> tuple[GroupRule, ...]:
    try:
        decoded = msgspec.json.decode(text, type=dict[str, dict[str, dict[str, str]]])
    except msgspec.DecodeError:
        raise ConfigurationError(
            "OIDC_GROUPS: expected JSON such as"
            ' {"groups": {"a value": {"an-organization": "a permission set"}}}'
        ) from None
    rules = tuple(
        GroupRule(claim, value, slug, permission_set)
        for claim, values in decoded.items()
        for value, organizations in values.items()
        for slug, permission_set in organizations.items()
    )
    for rule in rules:
        try:
            require_slug(rule.slug)
        except Invalid:
            raise ConfigurationError(
                f"OIDC_GROUPS: {rule.slug!r} is not the slug of an organization"
            ) from None
    return rules
