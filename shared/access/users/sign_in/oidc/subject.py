"""The person that a provider's claims describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.access.users.sign_in.oidc.configuration import OidcConfig
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Forbidden, Invalid, Unauthorized


@dataclass(frozen=True)
class Subject:
    """A person at a provider, with a verified address of an allowed domain.

    `groups` holds (claim, value) for each value that a rule could name.
    """

    issuer: str
    subject: str
    email: str
    groups: frozenset[tuple[str, str]]


def subject_of(config: OidcConfig, claims: Mapping[str, Any]) -> Subject:
    """Reads checked claims.

    Raises `Forbidden` for an address that is missing, unverified or of another domain, and
    `Unauthorized` if the provider did not list the groups.
    """
    return Subject(
        issuer=config.issuer,
        subject=claims["sub"],
        email=_address(config, claims),
        groups=frozenset(
            (claim, value) for claim in config.group_claims for value in _values(claims, claim)
        ),
    )


def _address(config: OidcConfig, claims: Mapping[str, Any]) -> str:
    # Some providers write booleans as text.
    if claims.get("email_verified") not in (True, "true"):
        raise Forbidden(
            "the provider has not verified your e-mail address", code="email_not_verified"
        )
    try:
        address = normal_address(str(claims.get("email")))
    except Invalid:
        raise Forbidden(
            "the provider sent no e-mail address for you", code="email_not_verified"
        ) from None
    if config.allowed_domains and address.rpartition("@")[2] not in config.allowed_domains:
        raise Forbidden("addresses of your domain may not sign in here", code="domain_not_allowed")
    return address


def _values(claims: Mapping[str, Any], claim: str) -> list[str]:
    """Returns the values of a claim: a list, or one text. A missing claim has none."""
    elsewhere = claims.get("_claim_names")
    if claim not in claims and isinstance(elsewhere, Mapping) and claim in elsewhere:
        # Too many groups for a token. To take them for none would end memberships.
        raise Unauthorized(
            "the provider did not list your groups: tell the operator", code="groups_not_listed"
        )
    value = claims.get(claim)
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]
