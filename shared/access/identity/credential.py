"""The credential of a request: a secret, and the organization and person it asks to act for."""

from dataclasses import dataclass, field

from shared.access.keys.rules import hash_secret
from shared.access.users.sign_in.sessions import TOKEN_PREFIX


@dataclass(frozen=True)
class Credential:
    """The hash of a bearer secret or session token, with the headers that belong to it.

    `org_slug` is X-Service-Org, `actor` the lower-case address of X-Service-Actor; None if absent.
    `proxied` is the address of the person whom a trusted proxy has signed in, instead of a secret.
    """

    secret_hash: bytes
    org_slug: str | None = None
    actor: str | None = None
    is_session_token: bool = field(default=False, compare=False)
    proxied: str | None = None

    @classmethod
    def of(
        cls, secret: bytes, org_slug: str | None = None, actor: str | None = None
    ) -> "Credential":
        """Creates the credential from a secret as it was sent."""
        return cls(
            secret_hash=hash_secret(secret),
            org_slug=org_slug,
            actor=None if actor is None else actor.strip().lower(),
            is_session_token=secret.startswith(TOKEN_PREFIX.encode()),
        )

    @classmethod
    def of_proxied(cls, email: str, org_slug: str | None = None) -> "Credential":
        """Creates the credential of a person, by normal address, for whom a proxy answers."""
        return cls(secret_hash=b"", org_slug=org_slug, proxied=email)
