"""The cookie of a session: its attributes, its connections, and its deletion."""

from collections.abc import Callable, Iterator

import msgspec
import pytest
from flask import Flask
from werkzeug.http import parse_cookie

from shared.access.settings.models import OrganizationSetting
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.people import new_member
from tests.support.routes import require_error
from tests.support.runtime import Org, connected
from tests.support.sign_in import Visitor, new_code
from web.app import create_app

ELSEWHERE = "https://elsewhere.example"


def attributes(set_cookie: str) -> tuple[str, set[str]]:
    """Returns name and value, and the other parts."""
    pair, *others = set_cookie.split("; ")
    return pair, set(others)


def test_the_token_is_in_the_cookie_alone(runtime: Runtime, visitor: Visitor, email: str) -> None:
    response = visitor.sign_in(runtime, email)
    [line] = response.headers.getlist("Set-Cookie")
    pair, others = attributes(line)
    token = parse_cookie(pair)["service_session"]
    assert token.startswith("wps_")
    assert len(token) > 40
    assert {other for other in others if not other.startswith("Expires=")} == {
        "HttpOnly",
        "SameSite=Lax",
        "Path=/",
        "Max-Age=86400",
    }
    assert token.encode() not in response.data
    others_headers = [value for name, value in response.headers if name != "Set-Cookie"]
    assert token not in str(others_headers)


def test_it_lives_as_long_as_the_organization_says(
    runtime: Runtime, org: Org, visitor: Visitor, email: str
) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        setting = {"key": "session_ttl_secs", "value": 300, "updated_by": "test"}
        session.add(OrganizationSetting(org_id=org.uuid, **setting))
    response = visitor.sign_in(runtime, email)
    assert response.get_json()["expires_in_secs"] == 300
    assert "Max-Age=300;" in response.headers["Set-Cookie"]


@pytest.mark.parametrize(
    ("public_url", "host", "secure"),
    [
        (None, "localhost", False),
        (None, "localhost:8000", False),
        (None, "127.0.0.1:8000", False),
        (None, "127.8.9.1", False),
        (None, "[::1]:8000", False),
        (None, "watch.localhost", False),
        (None, "watch.example.org", True),
        (None, "10.0.0.7:8000", True),
        (None, "localhost.example.org", True),
        (None, "127.0.0.1.example.org", True),
        ("http://localhost:8000", "watch.example.org", False),
        ("http://[::1]", "watch.example.org", False),
        ("https://localhost:8000", "localhost", True),
        ("https://watch.example.org", "localhost", True),
        ("http://watch.example.org", "localhost", True),
    ],
)
def test_it_travels_over_tls_only_unless_this_is_http_on_loopback(
    web_runtime: Runtime, org: Org, email: str, public_url: str | None, host: str, secure: bool
) -> None:
    settings = msgspec.structs.replace(web_runtime.settings, public_url=public_url)
    with connected(settings) as runtime:
        visitor = Visitor.of(create_app(runtime))
        response = visitor.enter(email, new_code(runtime, email), Host=host)
        assert response.status_code == 200
        assert ("Secure" in attributes(response.headers["Set-Cookie"])[1]) is secure
        # Browsers delete a cookie only with the attributes that they would accept it with.
        left = visitor.leave(Host=host)
        assert ("Secure" in attributes(left.headers["Set-Cookie"])[1]) is secure


def test_signing_out_ends_the_session_and_the_cookie(
    runtime: Runtime, app: Flask, visitor: Visitor, email: str
) -> None:
    visitor.sign_in(runtime, email)
    stolen = visitor.client.get_cookie("service_session")
    assert stolen is not None
    assert visitor.session().status_code == 200
    response = visitor.leave()
    assert (response.status_code, response.get_json()) == (200, {"ok": True})
    pair, others = attributes(response.headers["Set-Cookie"])
    assert pair == "service_session="
    assert {"Max-Age=0", "HttpOnly", "Path=/", "SameSite=Lax"} <= others
    assert visitor.client.get_cookie("service_session") is None
    thief = Visitor.of(app)
    assert thief.session(Authorization=f"Bearer {stolen.value}").status_code == 401
    thief.client.set_cookie("service_session", stolen.value)
    assert thief.session().status_code == 401


def test_signing_out_leaves_the_persons_other_sessions(
    runtime: Runtime, app: Flask, visitor: Visitor, email: str
) -> None:
    other = Visitor.of(app)
    visitor.sign_in(runtime, email)
    other.sign_in(runtime, email)
    visitor.leave()
    assert other.session().status_code == 200


@pytest.mark.parametrize("cookie", [None, "wps_nobodys"])
def test_signing_out_works_without_a_session(
    visitor: Visitor, runtime: Runtime, cookie: str | None
) -> None:
    """It does not make every process clear its cache."""
    if cookie is not None:
        visitor.client.set_cookie("service_session", cookie)
    before = runtime.redis.get("auth:generation")
    response = visitor.leave()
    assert (response.status_code, response.get_json()) == (200, {"ok": True})
    assert runtime.redis.get("auth:generation") == before


def test_a_bearer_signs_itself_out_and_leaves_the_cookie(
    runtime: Runtime, org: Org, visitor: Visitor, email: str
) -> None:
    bearer = new_member(runtime, org)
    visitor.sign_in(runtime, email)
    response = visitor.leave(**bearer)
    assert response.status_code == 200
    assert "Set-Cookie" not in response.headers
    assert visitor.session(**bearer).status_code == 401
    assert visitor.session().status_code == 200


@pytest.mark.parametrize("other", ["Basic YTpi", "Negotiate x", ""])
def test_a_cookie_counts_together_with_a_proxys_password(
    runtime: Runtime, visitor: Visitor, email: str, other: str
) -> None:
    visitor.sign_in(runtime, email)
    assert visitor.session(Authorization=other).status_code == 200
    assert visitor.client.get("/v1/keys", headers={"Authorization": other}).status_code == 200
    foreign = visitor.leave(Authorization=other, Origin=ELSEWHERE)
    assert (foreign.status_code, foreign.get_json()["code"]) == (403, "csrf")
    # An empty bearer still overrides the cookie.
    assert visitor.session(Authorization="Bearer ").status_code == 401
    assert visitor.leave(Authorization=other).status_code == 200
    assert visitor.session().status_code == 401


def test_a_key_has_no_session_to_end(visitor: Visitor, key: Callable[..., Headers]) -> None:
    headers = key("keys:read")
    assert visitor.leave(**headers).status_code == 200
    assert visitor.client.get("/v1/keys", headers=headers).status_code == 200


@pytest.mark.parametrize("origin", [ELSEWHERE, "null", "http://localhost:81", "localhost"])
def test_a_page_of_another_host_cannot_sign_out(
    runtime: Runtime, visitor: Visitor, email: str, origin: str
) -> None:
    visitor.sign_in(runtime, email)
    response = visitor.leave(Origin=origin)
    assert (response.status_code, response.get_json()["code"]) == (403, "csrf")
    assert "Set-Cookie" not in response.headers
    assert visitor.session().status_code == 200
    assert visitor.leave(Origin="http://localhost").status_code == 200


def test_not_even_where_the_browser_leaves_the_cookie_out(visitor: Visitor) -> None:
    """SameSite=Lax keeps the cookie from a foreign form, whose answer would still delete it."""
    response = visitor.leave(Origin=ELSEWHERE)
    assert (response.status_code, response.get_json()["code"]) == (403, "csrf")
    assert "Set-Cookie" not in response.headers


def test_a_bearer_is_no_browsers_cookie(runtime: Runtime, org: Org, visitor: Visitor) -> None:
    bearer = new_member(runtime, org)
    assert visitor.leave(Origin=ELSEWHERE, **bearer).status_code == 200
    assert visitor.session(**bearer).status_code == 401


@pytest.mark.parametrize("public_url", ["https://watch.example.org:port", "https://"])
@pytest.mark.parametrize("origin", ["null", "", "https://", "elsewhere", "https://a:b"])
def test_an_origin_without_a_host_is_foreign(
    web_runtime: Runtime, org: Org, public_url: str, origin: str
) -> None:
    """Even if PUBLIC_URL, or the Host that a proxy sends, has no host either."""
    token = new_member(web_runtime, org)["Authorization"].removeprefix("Bearer ")
    settings = msgspec.structs.replace(web_runtime.settings, public_url=public_url)
    with connected(settings) as runtime:
        visitor = Visitor.of(create_app(runtime))
        visitor.client.set_cookie("service_session", token)
        for host in ("localhost", "not a host"):
            response = visitor.leave(Origin=origin, Host=host)
            assert (response.status_code, response.get_json()["code"]) == (403, "csrf")
        assert visitor.session().status_code == 200


@pytest.fixture
def https(web_runtime: Runtime) -> Iterator[Visitor]:
    """A browser at a deployment behind https."""
    settings = msgspec.structs.replace(web_runtime.settings, public_url="https://localhost")
    with connected(settings) as runtime:
        yield Visitor.of(create_app(runtime))


def test_a_planted_cookie_does_not_change_the_account(
    runtime: Runtime, org: Org, https: Visitor, email: str
) -> None:
    """A sibling domain can set `service_session` with a longer path, which browsers send first."""
    theirs = new_member(runtime, org)["Authorization"].removeprefix("Bearer ")
    lines = https.sign_in(runtime, email).headers.getlist("Set-Cookie")
    [plain, of_host] = [attributes(line) for line in lines]
    assert of_host[0] == f"__Host-{plain[0]}"
    assert {"Secure", "Path=/", "HttpOnly"} <= of_host[1]
    assert not [one for one in of_host[1] if one.startswith("Domain")]
    token = plain[0].partition("=")[2]
    both = f"service_session={theirs}; service_session={token}"
    bare = https.client.application.test_client(use_cookies=False)
    kept = {"Cookie": f"{both}; __Host-service_session={token}"}
    answer = bare.get("/v1/auth/session", headers=kept)
    assert answer.get_json()["email"] == email
    refused = bare.get("/v1/auth/session", headers={"Cookie": both})
    require_error(refused, 401, "unauthorized")
    for answer in (refused, https.leave()):
        cleared = [attributes(line)[0] for line in answer.headers.getlist("Set-Cookie")]
        assert cleared == ["service_session=", "__Host-service_session="]
