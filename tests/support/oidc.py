"""A provider of OpenID Connect on a loopback port, made of authlib's own server.

    with running_provider() as provider:
        provider.person = {"sub": "1", "email": "ada@example.org", "email_verified": True}
        browser = Browser.of(app, provider)
        assert browser.sign_in().status_code == 303

It checks what providers check: the client and its secret, the exact redirect URI, PKCE, and that a
code is used once. It signs with RSA keys, `rotate` changes them, and `sign`, `claims`, `header`
and `metadata` make it misbehave.
"""

import hashlib
import hmac
import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import urllib3
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core.grants import OpenIDCode
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from flask import Flask, Response, jsonify
from flask import request as asked
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from tests.support.sign_in import new_address

CLIENT_ID, CLIENT_SECRET = "watchpost", "a secret: of the/client"
PUBLIC_URL = "http://localhost"
CALLBACK = f"{PUBLIC_URL}/sign-in/oidc/callback"

Claims = dict[str, Any]


def new_rsa_key() -> RSAKey:
    """Returns a new key, whose id is its thumbprint."""
    return RSAKey.generate_key(2048, auto_kid=True)


@dataclass
class Provider:
    """The behaviour of the provider, and the requests that it has had.

    `claims` replace those of the token, where None removes one. `told` are the claims of userinfo.
    """

    issuer: str = ""
    person: Claims = field(default_factory=dict)
    claims: Claims = field(default_factory=dict)
    header: Claims = field(default_factory=dict)
    metadata: Claims = field(default_factory=dict)
    told: Claims | None = None
    sign: Callable[[Claims, Claims, RSAKey], str] | None = None
    keys: list[RSAKey] = field(default_factory=lambda: [new_rsa_key()])
    published: list[Claims] | None = None
    fails_with: int | None = None
    error: str | None = None
    requests: list[str] = field(default_factory=list)
    codes: dict[str, "Code"] = field(default_factory=dict)

    def rotate(self) -> None:
        """Signs with a new key from now on, and publishes nothing else."""
        self.keys[:] = [new_rsa_key()]

    def count(self, path: str) -> int:
        """Returns how many requests there were for a path."""
        return self.requests.count(path)

    def settings(self, **fields: Any) -> dict[str, Any]:
        """Returns the settings of a deployment whose people sign in here."""
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
            "public_url": PUBLIC_URL,
            **fields,
        }

    def id_token(self, claims: Claims) -> str:
        """Returns the signed token."""
        claims = {**claims, **self.claims}
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": self.keys[0].kid, **self.header}
        header = {name: value for name, value in header.items() if value is not None}
        if self.sign is not None:
            return self.sign(header, claims, self.keys[0])
        return jwt.encode(header, claims, self.keys[0], [header["alg"]])


class Client(ClientMixin):  # type: ignore[misc] # authlib is untyped
    """The one client."""

    client_id = CLIENT_ID

    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_default_redirect_uri(self) -> str:
        return CALLBACK

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == CALLBACK

    def check_client_secret(self, client_secret: str) -> bool:
        # RFC 6749, 2.3.1: the secret is encoded as in a form.
        return CLIENT_SECRET in (client_secret, unquote_plus(client_secret))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in ("client_secret_basic", "client_secret_post")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code(AuthorizationCodeMixin):  # type: ignore[misc] # authlib is untyped
    """A code that was given and not used yet."""

    code: str
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str | None
    code_challenge_method: str | None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> None:
        return None

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


def _application(provider: Provider) -> Flask:
    app = Flask("provider")
    app.before_request(lambda: _before(provider))
    server = AuthorizationServer(app, lambda client_id: _client(client_id), lambda *_: None)

    class Grant(AuthorizationCodeGrant):  # type: ignore[misc] # authlib is untyped
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post")

        def save_authorization_code(self, code: str, request: Any) -> None:
            data = request.payload.data
            provider.codes[code] = Code(
                code,
                request.payload.redirect_uri,
                request.payload.scope,
                data.get("nonce"),
                data.get("code_challenge"),
                data.get("code_challenge_method"),
            )

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            provider.codes.pop(authorization_code.code, None)

        def authenticate_user(self, authorization_code: Code) -> Claims:
            return provider.person

    class Token(OpenIDCode):  # type: ignore[misc] # authlib is untyped
        def exists_nonce(self, nonce: str, request: Any) -> bool:
            return False

        def get_client_claims(self, client: Client) -> Claims:
            return {"iss": provider.issuer, "aud": CLIENT_ID}

        def generate_user_info(self, user: Claims, scope: str) -> Claims:
            return user

        def encode_id_token(self, token: Claims, request: Any) -> str:
            claims = self.get_compatible_claims(request)
            claims.update(self.get_authorization_code_claims(request.authorization_code))
            return provider.id_token({**claims, **provider.person})

    server.register_grant(Grant, [Token(require_nonce=True), CodeChallenge(required=True)])
    app.add_url_rule("/authorize", view_func=lambda: _authorize(provider, server), endpoint="a")
    app.add_url_rule(
        "/token", view_func=server.create_token_response, endpoint="token", methods=["POST"]
    )
    app.add_url_rule("/userinfo", view_func=lambda: _userinfo(provider), endpoint="userinfo")
    app.add_url_rule("/keys", view_func=lambda: _keys(provider), endpoint="keys")
    app.add_url_rule(
        "/.well-known/openid-configuration", view_func=lambda: _metadata(provider), endpoint="meta"
    )
    return app


def _before(provider: Provider) -> Response | None:
    provider.requests.append(asked.path)
    failed = provider.fails_with
    return None if failed is None else Response("the provider's secret trouble", failed)


def _client(client_id: str) -> Client | None:
    return Client() if client_id == CLIENT_ID else None


def _authorize(provider: Provider, server: Any) -> Any:
    if provider.error is not None:
        back = {
            "error": provider.error,
            "state": asked.args["state"],
            "error_description": "geheim",
        }
        return Response(status=302, headers={"Location": f"{CALLBACK}?{urlencode(back)}"})
    grant = server.get_consent_grant(end_user=provider.person)
    return server.create_authorization_response(grant_user=provider.person, grant=grant)


def _userinfo(provider: Provider) -> Response:
    if not asked.headers.get("Authorization", "").startswith("Bearer "):
        return Response(status=401)
    return jsonify(provider.told or {})


def _keys(provider: Provider) -> Response:
    keys = provider.published or [key.as_dict(private=False) for key in provider.keys]
    return jsonify({"keys": keys})


def _metadata(provider: Provider) -> Response:
    at = provider.issuer
    told = {
        "issuer": at,
        "authorization_endpoint": f"{at}/authorize",
        "token_endpoint": f"{at}/token",
        "jwks_uri": f"{at}/keys",
        **({} if provider.told is None else {"userinfo_endpoint": f"{at}/userinfo"}),
        **provider.metadata,
    }
    return jsonify({name: value for name, value in told.items() if value is not None})


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Runs a provider and stops it afterwards."""
    provider = Provider()
    server = make_server("127.0.0.1", 0, _application(provider), threaded=True)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Browser:
    """A browser that signs in at the provider."""

    client: FlaskClient
    provider: Provider

    @classmethod
    def of(cls, app: Flask, provider: Provider) -> "Browser":
        """Returns a new browser with an address of its own."""
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = new_address()
        return cls(client, provider)

    def start(self, next_path: str = "/") -> TestResponse:
        """Presses the button."""
        return self.client.get("/sign-in/oidc", query_string={"next": next_path}, buffered=True)

    def authorize(self, started: TestResponse) -> str:
        """Lets the provider decide; returns the query with which it sends the browser back."""
        answer = urllib3.request("GET", started.headers["Location"], redirect=False)
        assert answer.status == 302, answer.data
        assert answer.headers["Location"].startswith(f"{CALLBACK}?")
        return urlsplit(answer.headers["Location"]).query

    def come_back(self, query: str, **changes: str) -> TestResponse:
        """Comes back from the provider with this query, of which `changes` replace parts."""
        given = {**dict(parse_qsl(query)), **changes}
        return self.client.get("/sign-in/oidc/callback", query_string=given, buffered=True)

    def sign_in(self, next_path: str = "/") -> TestResponse:
        """Does all of it."""
        started = self.start(next_path)
        assert started.status_code == 303, started.get_data(as_text=True)
        return self.come_back(self.authorize(started))

    def session(self) -> TestResponse:
        """Asks who is signed in."""
        return self.client.get("/v1/auth/session", buffered=True)


def hmac_signed(secret: bytes) -> Callable[[Claims, Claims, RSAKey], str]:
    """Returns a signing with HS256, as an attacker who knows only this secret can make it."""

    def sign(header: Claims, claims: Claims, _key: RSAKey) -> str:
        return _token({**header, "alg": "HS256"}, claims, secret)

    return sign


def _token(header: Claims, claims: Claims, secret: bytes) -> str:
    signed = _packed(json.dumps(header).encode()) + b"." + _packed(json.dumps(claims).encode())
    mac = hmac.new(secret, signed, hashlib.sha256).digest() if secret else b""
    return (signed + b"." + _packed(mac)).decode()


def _packed(part: bytes) -> bytes:
    return urlsafe_b64encode(part).rstrip(b"=")


def signed_anyway(header: Claims, claims: Claims, key: RSAKey) -> str:
    """Returns a token signed with RS256, whatever its headers are."""
    signed = _packed(json.dumps(header).encode()) + b"." + _packed(json.dumps(claims).encode())
    private = key.private_key
    assert private is not None
    signature = private.sign(signed, PKCS1v15(), SHA256())
    return (signed + b"." + _packed(signature)).decode()


def unsigned(header: Claims, claims: Claims, _key: RSAKey) -> str:
    """Returns a token of the algorithm `none`."""
    return _token({**header, "alg": "none"}, claims, b"")


def ago(secs: float) -> int:
    """Returns the moment so long ago, as tokens write it."""
    return int(time.time() - secs)
