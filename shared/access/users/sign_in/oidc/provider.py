"""The provider: its metadata and keys, and the exchange of a code for claims."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from urllib3.util import make_headers

from shared.access.users.sign_in.oidc.configuration import OidcConfig, is_safe_url
from shared.access.users.sign_in.oidc.flows import Flow
from shared.access.users.sign_in.oidc.http import Http
from shared.access.users.sign_in.oidc.tokens import Expected, claims_of, key_set_of
from shared.foundation.core.errors import Unauthorized, Unavailable
from shared.foundation.core.logs import get_logger

log = get_logger(__name__)

# Metadata and keys are read again after this time. Unknown keys are looked for at once.
FRESH_SECS = 3600.0
# Requests of one process at once. A provider that hangs must not take all threads of `web`.
_AT_ONCE = 8

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True)
class _Read:
    """Something that the provider publishes, and when it was read."""

    value: Any
    at: float


class Provider:
    """One provider, for the threads of one process. All methods raise `Unavailable` if it is down.

    Nothing is read before the first sign-in, so `web` starts without the provider.
    """

    def __init__(self, config: OidcConfig) -> None:
        self.config = config
        self._http = Http()
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._metadata: _Read | None = None
        self._keys: _Read | None = None

    def authorization_url(self, flow: Flow, state: str) -> str:
        """Returns the URL at the provider to which the browser goes."""
        with self._place():
            endpoint = self._discovered()["authorization_endpoint"]
        url: str = prepare_grant_uri(
            endpoint,
            client_id=self.config.client_id,
            response_type="code",
            redirect_uri=self.config.redirect_uri,
            scope=self.config.scopes,
            state=state,
            nonce=flow.nonce,
            code_challenge=create_s256_code_challenge(flow.verifier),
            code_challenge_method="S256",
        )
        return url

    def claims(self, flow: Flow, code: str) -> dict[str, Any]:
        """Exchanges a code for the checked claims about the person.

        Raises `Unauthorized` if the provider refuses the code or sends a token that is not right.
        """
        with self._place():
            tokens = self._exchange(flow, code)
            id_token, access_token = tokens.get("id_token"), tokens.get("access_token")
            if not isinstance(id_token, str) or not isinstance(access_token, str):
                raise _refused("no_token")
            config = self.config
            expected = Expected(config.issuer, config.client_id, flow.nonce, access_token)
            claims = self._checked(id_token, expected)
            return self._completed(claims, access_token)

    def require_issuer(self, given: str | None) -> None:
        """Raises `Unauthorized` if the browser comes back from another provider (RFC 9207)."""
        promised = False
        if given is None:
            with self._place():
                promised = bool(
                    self._discovered().get("authorization_response_iss_parameter_supported")
                )
        if promised or (given is not None and given != self.config.issuer):
            raise _refused("issuer_of_answer")

    def _exchange(self, flow: Flow, code: str) -> dict[str, Any]:
        metadata, config = self._discovered(), self.config
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": config.redirect_uri,
            "code_verifier": flow.verifier,
            "client_id": config.client_id,
        }
        headers: Mapping[str, str] = {}
        if config.client_secret is not None:
            known = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
            if "client_secret_basic" in known:
                pair = f"{quote_plus(config.client_id)}:{quote_plus(config.client_secret)}"
                headers = make_headers(basic_auth=pair)
            else:
                form["client_secret"] = config.client_secret
        status, answer = self._http.post(metadata["token_endpoint"], form, headers)
        if status != 200:
            error = answer.get("error")
            # `invalid_client` and the like are the operator's to mend. The description stays out.
            log.warning("oidc_code_refused", status=status, error=str(error)[:40])
            raise _refused("code")
        return answer

    def _checked(self, id_token: str, expected: Expected) -> dict[str, Any]:
        try:
            try:
                return claims_of(id_token, self._published_keys(), expected)
            except InvalidKeyIdError:
                # The provider has changed its keys since they were read.
                return claims_of(id_token, self._published_keys(again=True), expected)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            log.warning("oidc_token_refused", reason=type(error).__name__, claim=_claim_of(error))
            raise _refused("token") from None

    def _completed(self, claims: dict[str, Any], access_token: str) -> dict[str, Any]:
        """Adds what the provider tells about the person only on request."""
        wanted = {"email", "email_verified", *self.config.group_claims}
        endpoint = self._discovered().get("userinfo_endpoint")
        if wanted <= claims.keys() or not isinstance(endpoint, str) or not is_safe_url(endpoint):
            return claims
        told = self._http.get(endpoint, {"Authorization": f"Bearer {access_token}"})
        if told.get("sub") != claims["sub"]:
            log.warning("oidc_token_refused", reason="userinfo", claim="sub")
            raise _refused("token")
        # The signed token wins. Its address and whether it is verified belong together.
        if "email" in claims:
            told = {name: told[name] for name in told if name not in ("email", "email_verified")}
        return {**told, **claims}

    def _discovered(self) -> dict[str, Any]:
        read = self._metadata
        if read is None or time.monotonic() - read.at > FRESH_SECS:
            url = f"{self.config.issuer.rstrip('/')}/.well-known/openid-configuration"
            metadata = self._http.get(url)
            # A document about another issuer would lead to endpoints of somebody else.
            if metadata.get("issuer") != self.config.issuer:
                raise _misconfigured("issuer")
            for name in _ENDPOINTS:
                if not isinstance(metadata.get(name), str) or not is_safe_url(metadata[name]):
                    raise _misconfigured(name)
            self._metadata = read = _Read(metadata, time.monotonic())
        found: dict[str, Any] = read.value
        return found

    def _published_keys(self, *, again: bool = False) -> KeySet:
        read = self._keys
        if read is None or again or time.monotonic() - read.at > FRESH_SECS:
            keys = key_set_of(self._http.get(self._discovered()["jwks_uri"]))
            if not keys:
                raise _misconfigured("jwks")
            self._keys = read = _Read(keys, time.monotonic())
        found: KeySet = read.value
        return found

    def _place(self) -> "_Place":
        return _Place(self._places)


class _Place:
    """One of the places of the process; refuses instead of waiting."""

    def __init__(self, places: threading.BoundedSemaphore) -> None:
        self._places = places

    def __enter__(self) -> None:
        if not self._places.acquire(blocking=False):
            log.warning("oidc_provider_unavailable", error="busy")
            raise Unavailable(
                "too many people sign in at the provider just now: try again",
                code="provider_unavailable",
            )

    def __exit__(self, *_: object) -> None:
        self._places.release()


def _claim_of(error: Exception) -> str | None:
    name = getattr(error, "claim", None)
    return name if isinstance(name, str) else None


def _refused(reason: str) -> Unauthorized:
    log.warning("oidc_sign_in_refused", reason=reason)
    return Unauthorized(
        "the sign-in at the provider did not succeed: try again", code="provider_refused"
    )


def _misconfigured(what: str) -> Unavailable:
    log.error("oidc_provider_misconfigured", what=what)
    return Unavailable(
        "the sign-in provider is not set up correctly: tell the operator",
        code="provider_misconfigured",
    )
