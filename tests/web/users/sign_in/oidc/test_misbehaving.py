"""A provider, or somebody in its place, that misbehaves: each check refuses on its own."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from sqlalchemy import select
from structlog.testing import capture_logs

from shared.access.audit_log.models import AuditLine
from shared.foundation.deployment.runtime import Runtime
from tests.support.oidc import (
    CLIENT_SECRET,
    Browser,
    Provider,
    ago,
    hmac_signed,
    new_rsa_key,
    signed_anyway,
    unsigned,
)

Twist = Callable[[Provider], None]


def claims(**values: Any) -> Twist:
    return lambda provider: provider.claims.update(values)


def header(**values: Any) -> Twist:
    return lambda provider: provider.header.update(values)


def hs256_with_the_public_key(provider: Provider) -> None:
    """The key that everybody can read, as the secret of an HMAC."""
    provider.sign = hmac_signed(provider.keys[0].as_pem(private=False))


def hs256_with_the_client_secret(provider: Provider) -> None:
    provider.sign = hmac_signed(CLIENT_SECRET.encode())


def hs256_with_a_published_secret(provider: Provider) -> None:
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "1"}
    provider.published = [provider.keys[0].as_dict(private=False), secret]
    provider.header = {"kid": "1"}
    provider.sign = hmac_signed(b"secret")


def unsigned_token(provider: Provider) -> None:
    provider.sign = unsigned


def foreign_key(provider: Provider) -> None:
    """Signed by somebody else, under the id of the provider's key."""
    published, provider.header = provider.keys[0], {"kid": provider.keys[0].kid}
    provider.keys[:] = [new_rsa_key()]
    provider.published = [published.as_dict(private=False)]


def key_for_encryption(provider: Provider) -> None:
    other = new_rsa_key().as_dict(private=False)
    provider.published = [{**provider.keys[0].as_dict(private=False), "use": "enc"}, other]


def critical_header(provider: Provider) -> None:
    """A header that must be understood, and is not."""
    provider.header, provider.sign = {"crit": ["x"], "x": 1}, signed_anyway


def no_token(provider: Provider) -> None:
    provider.sign = lambda *_: ""


TOKENS: dict[str, Twist] = {
    "another nonce": claims(nonce="another"),
    "no nonce": claims(nonce=None),
    "another audience": claims(aud="another-client"),
    "a token for another client that we began": claims(aud="another-client", azp="watchpost"),
    "another audience in a list": claims(aud=["another-client"]),
    "another authorized party": claims(azp="another-client"),
    "several audiences without a party": claims(aud=["watchpost", "another"]),
    "no audience": claims(aud=None),
    "another issuer": claims(iss="https://elsewhere.example"),
    "nearly our issuer": claims(iss="http://127.0.0.1"),
    "no issuer": claims(iss=None),
    "expired": claims(exp=ago(180)),
    "no expiry": claims(exp=None),
    # A day, because a slow run may be at this test an hour after these lines.
    "not valid yet": claims(nbf=ago(-86_400)),
    "from the future": claims(iat=ago(-86_400)),
    "no subject": claims(sub=None),
    "an empty subject": claims(sub=""),
    "a number as subject": claims(sub=7),
    "another access token": claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
    "alg none": unsigned_token,
    "HS256 with the public key": hs256_with_the_public_key,
    "HS256 with the client's secret": hs256_with_the_client_secret,
    "HS256 with a published secret": hs256_with_a_published_secret,
    "a foreign key": foreign_key,
    "a key for encryption": key_for_encryption,
    "an unknown key": header(kid="unknown"),
    "an unknown critical header": critical_header,
    "no token": no_token,
}


@pytest.mark.parametrize("twist", TOKENS.values(), ids=TOKENS)
def test_a_token_that_is_not_right_signs_no_one_in(
    browser: Browser, provider: Provider, email: str, twist: Twist
) -> None:
    kept = list(provider.keys)
    twist(provider)
    refused = browser.sign_in()
    provider.keys[:] = kept
    assert refused.status_code == 401, refused.get_data(as_text=True)
    assert "did not succeed" in refused.get_data(as_text=True)
    assert "service_session" not in "".join(refused.headers.getlist("Set-Cookie"))
    assert browser.session().status_code == 401


def test_the_same_provider_signs_in_without_a_twist(browser: Browser, email: str) -> None:
    assert browser.sign_in().status_code == 303


@pytest.mark.parametrize(
    "twist",
    [
        claims(email_verified=False),
        claims(email_verified=None),
        claims(email_verified="false"),
        claims(email_verified=1.5),
        claims(email=None),
        claims(email="not an address"),
    ],
)
def test_an_address_has_to_be_verified(
    browser: Browser, provider: Provider, email: str, twist: Twist
) -> None:
    twist(provider)
    refused = browser.sign_in()
    assert refused.status_code == 403, refused.get_data(as_text=True)
    assert browser.session().status_code == 401


def test_userinfo_is_about_the_same_person(
    browser: Browser, provider: Provider, email: str
) -> None:
    provider.told = {**provider.person, "sub": "somebody else"}
    provider.person = {"sub": provider.person["sub"]}
    assert browser.sign_in().status_code == 401


def test_userinfo_cannot_verify_the_tokens_address(
    browser: Browser, provider: Provider, email: str
) -> None:
    provider.told = provider.person
    provider.claims = {"email_verified": None}
    assert browser.sign_in().status_code == 403


def test_an_answer_counts_once(browser: Browser, provider: Provider, email: str) -> None:
    started = browser.start()
    cookies = started.headers.getlist("Set-Cookie")
    query = browser.authorize(started)
    assert browser.come_back(query).status_code == 303
    name, value = re.match(r"([^=]+)=([^;]+)", cookies[0]).groups()  # type: ignore[union-attr] # set
    browser.client.set_cookie(name, value, path="/sign-in/oidc/callback")
    asked = provider.count("/token")
    assert browser.come_back(query).status_code == 401
    assert provider.count("/token") == asked


def test_a_code_counts_once_with_another_state_too(
    browser: Browser, provider: Provider, email: str
) -> None:
    first = browser.authorize(browser.start())
    assert browser.come_back(first).status_code == 303
    code = re.search(r"code=([^&]+)", first)
    assert code is not None
    again = browser.authorize(browser.start())
    assert browser.come_back(again, code=code[1]).status_code == 401


def test_a_code_of_another_sign_in_is_refused(
    browser: Browser, provider: Provider, email: str
) -> None:
    """PKCE: the code was given for another verifier."""
    others = Browser.of(browser.client.application, provider)
    stolen = re.search(r"code=([^&]+)", others.authorize(others.start()))
    assert stolen is not None
    assert browser.come_back(browser.authorize(browser.start()), code=stolen[1]).status_code == 401


def test_another_browser_cannot_come_back(browser: Browser, provider: Provider, email: str) -> None:
    """Otherwise a link could sign somebody in as its sender."""
    query = browser.authorize(browser.start())
    victim = Browser.of(browser.client.application, provider)
    refused = victim.come_back(query)
    assert refused.status_code == 401
    assert "another browser" in refused.get_data(as_text=True)
    # The state is used up, for its owner too.
    assert browser.come_back(query).status_code == 401


@pytest.mark.parametrize("state", ["", "unknown", "ü", "a" * 2000])
def test_a_state_that_is_none_is_refused(browser: Browser, email: str, state: str) -> None:
    query = browser.authorize(browser.start())
    assert browser.come_back(query, state=state).status_code == 401


def test_an_answer_of_another_provider_is_refused(
    browser: Browser, provider: Provider, email: str
) -> None:
    query = browser.authorize(browser.start())
    assert browser.come_back(query, iss="https://elsewhere.example").status_code == 401
    query = browser.authorize(browser.start())
    assert browser.come_back(query, iss=provider.issuer).status_code == 303
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    fresh = Browser.of(browser.client.application, provider)
    assert fresh.sign_in().status_code == 303  # the metadata from before is still in use


def test_an_issuer_that_is_promised_is_required(
    browser: Browser, provider: Provider, email: str
) -> None:
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    query = browser.authorize(browser.start())
    assert browser.come_back(query).status_code == 401
    query = browser.authorize(browser.start())
    assert browser.come_back(query, iss=provider.issuer).status_code == 303


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://elsewhere.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"jwks_uri": "http://elsewhere.example/keys"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_metadata_of_another_issuer_leads_nowhere(
    browser: Browser, provider: Provider, email: str, metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    refused = browser.start()
    assert refused.status_code == 503
    assert "Location" not in refused.headers


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("access_denied", "The provider did not let you sign in."),
        ("<script>alert(1)</script>", "The provider reports an error: tell the operator."),
    ],
)
def test_an_error_of_the_provider_becomes_a_clear_page(
    browser: Browser, provider: Provider, error: str, sentence: str
) -> None:
    provider.error = error
    refused = browser.sign_in()
    page = refused.get_data(as_text=True)
    assert (refused.status_code, refused.mimetype) == (401, "text/html")
    assert sentence in page
    assert "trouble" not in page
    assert "script" not in page
    assert 'href="/sign-in"' in page
    assert refused.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert refused.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("twist", [claims(nonce="another"), claims(), claims(email_verified=0)])
def test_no_token_and_no_code_is_in_a_log_or_on_a_page(
    browser: Browser, provider: Provider, email: str, twist: Twist
) -> None:
    seen: list[str] = []

    def sign(header: dict[str, Any], body: dict[str, Any], key: Any) -> str:
        seen.append(jwt.encode(header, body, key))
        return seen[-1]

    provider.sign = sign
    twist(provider)
    with capture_logs() as logs:
        query = browser.authorize(browser.start())
        answer = browser.come_back(query)
    [code], [state] = re.findall(r"code=([^&]+)", query), re.findall(r"state=([^&]+)", query)
    for secret in (seen[0], code, state, CLIENT_SECRET, email):
        assert secret not in str(logs)
        assert secret not in answer.get_data(as_text=True)


def test_starts_are_limited_by_client(browser: Browser, provider: Provider) -> None:
    statuses = {browser.start().status_code for _ in range(60)}
    assert statuses == {303}
    limited = browser.start()
    assert limited.status_code == 429
    assert limited.headers["Retry-After"]


def test_a_program_that_looks_at_links_uses_nothing_up(browser: Browser, email: str) -> None:
    query = browser.authorize(browser.start())
    looked = browser.client.head(f"/sign-in/oidc/callback?{query}")
    assert looked.status_code == 404
    assert browser.come_back(query).status_code == 303


def test_a_refused_sign_in_is_in_the_operators_audit_log(
    runtime: Runtime, browser: Browser, provider: Provider, email: str
) -> None:
    provider.person = {**provider.person, "email": "stranger@example.com"}
    assert browser.sign_in().status_code == 403
    provider.claims = {"nonce": "another"}
    assert browser.sign_in().status_code == 401
    provider.error = "access_denied"
    assert browser.sign_in().status_code == 401
    with runtime.postgres.transaction() as session:
        query = (
            select(AuditLine.target, AuditLine.after)
            .where(AuditLine.org_id.is_(None), AuditLine.action == "user.sign_in_refused")
            .order_by(AuditLine.at.desc())
            .limit(3)
        )
        lines = [(target, after) for target, after in session.execute(query)]
    assert lines == [
        (None, {"reason": "provider_denied"}),
        (None, {"reason": "provider_refused"}),
        ("stranger@example.com", {"reason": "not_a_member"}),
    ]
