"""Identity tokens: the signature by a published key, and the claims that must fit."""

import hmac
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidClaimError, InvalidKeyIdError, JoseError
from joserfc.jwk import Key, KeySet, import_key
from joserfc.jws import JWSRegistry

# Signed with a private key of the provider. `none` and the HMACs, whose key could be the public key
# that everybody can read, are not among them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
ASYMMETRIC_TYPES = ("RSA", "EC")
# The provider's clock and ours may differ by so much.
LEEWAY_SECS = 120

_MAX_SUBJECT = 255


@dataclass(frozen=True)
class Expected:
    """The values that a token must fit: the client's values, and those of this very sign-in."""

    issuer: str
    client_id: str
    nonce: str = field(repr=False)
    access_token: str = field(repr=False)


def key_set_of(document: dict[str, Any]) -> KeySet:
    """Returns the keys of a published set that can verify signatures; leaves out all others."""
    published, usable = document.get("keys"), []
    for one in published if isinstance(published, list) else []:
        # A secret among them, whose HMAC everybody could make, is not a key.
        if isinstance(one, dict) and one.get("kty") in ASYMMETRIC_TYPES:
            with suppress(JoseError, ValueError, TypeError, KeyError):
                usable.append(import_key(one))
    return KeySet([key for key in usable if key.get("use", "sig") == "sig"])


def claims_of(id_token: str, keys: KeySet, expected: Expected) -> dict[str, Any]:
    """Returns the claims of a token.

    Raises `InvalidKeyIdError` if none of `keys` can have signed it, another `JoseError` or a
    `ValueError` if it is not right.
    """
    # Providers may add headers of their own; `crit` names those that must be understood.
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    token = jwt.decode(
        id_token,
        lambda signed: _key_of(signed.headers().get("kid"), keys),
        ALGORITHMS,
        registry=registry,
    )
    claims = CodeIDToken(
        token.claims,
        token.header,
        options={
            "iss": {"essential": True, "value": expected.issuer},
            "aud": {"essential": True, "value": expected.client_id},
        },
        params={"client_id": expected.client_id, "access_token": expected.access_token},
    )
    claims.validate(leeway=LEEWAY_SECS)
    nonce, subject = claims.get("nonce"), claims["sub"]
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode(), expected.nonce.encode()
    ):
        raise InvalidClaimError("nonce")
    if not 1 <= len(subject) <= _MAX_SUBJECT or "\0" in subject:
        raise InvalidClaimError("sub")
    return dict(claims)


def _key_of(wanted: object, keys: KeySet) -> Key:
    """Returns the published key that a token names, or the only one that it can mean."""
    usable = [key for key in keys.keys if wanted is None or key.kid == wanted]
    if len(usable) != 1:
        raise InvalidKeyIdError("no published key fits the token")
    return usable[0]
