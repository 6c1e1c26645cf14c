"""Sign-in at the provider: what happens when everything is right, and to whom."""

from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from shared.access.settings.models import OrganizationSetting
from shared.access.users import operator
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.oidc import CALLBACK, CLIENT_ID, Browser, Provider, ago, running_provider
from tests.support.people import add_member, new_email
from tests.support.routes import require_error
from tests.support.runtime import Org
from tests.support.sign_in import Visitor, new_code
from tests.web.users.sign_in.oidc.conftest import Serve, person


def test_a_member_signs_in_and_goes_on_to_the_page(browser: Browser, email: str, org: Org) -> None:
    answer = browser.sign_in(f"/o/{org.slug}/sessions?environment=a%20b")
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        f"/o/{org.slug}/sessions?environment=a%20b",
    )
    assert "service_session=wps_" in "".join(answer.headers.getlist("Set-Cookie"))
    told = browser.session().get_json()
    assert told["email"] == email
    assert [one["org_slug"] for one in told["memberships"]] == [org.slug]


def test_what_is_asked_for_is_bound_to_this_sign_in(browser: Browser, email: str) -> None:
    asked = [
        {name: value for name, [value] in parse_qs(urlsplit(one.headers["Location"]).query).items()}
        for one in (browser.start(), browser.start())
    ]
    for one in asked:
        assert one["redirect_uri"] == CALLBACK
        assert one["client_id"] == CLIENT_ID
        assert (one["response_type"], one["code_challenge_method"]) == ("code", "S256")
        assert one["scope"].split() == ["openid", "email"]
    for name in ("state", "nonce", "code_challenge"):
        assert asked[0][name] != asked[1][name]
        assert len(asked[0][name]) >= 43


@pytest.mark.parametrize(
    "elsewhere", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "x"]
)
def test_the_way_back_never_leads_elsewhere(browser: Browser, email: str, elsewhere: str) -> None:
    assert browser.sign_in(elsewhere).headers["Location"] == "/"


def test_two_tabs_do_not_disturb_each_other(browser: Browser, email: str) -> None:
    first, second = browser.start("/profile"), browser.start("/")
    for started, path in ((first, "/profile"), (second, "/")):
        answer = browser.come_back(browser.authorize(started))
        assert (answer.status_code, answer.headers["Location"]) == (303, path)


def test_an_account_is_the_subjects_even_if_the_address_changes(
    browser: Browser, provider: Provider, email: str
) -> None:
    browser.sign_in()
    provider.person = {**provider.person, "email": new_email()}
    assert browser.sign_in().status_code == 303
    assert browser.session().get_json()["email"] == email


def test_an_address_that_another_person_got_does_not_open_the_account(
    browser: Browser, provider: Provider, email: str
) -> None:
    browser.sign_in()
    provider.person = person(email)
    other = Browser.of(browser.client.application, provider)
    refused = other.sign_in()
    assert refused.status_code == 403
    assert "another person" in refused.get_data(as_text=True)
    assert other.session().status_code == 401


def test_who_is_no_member_does_not_get_in(browser: Browser, provider: Provider) -> None:
    provider.person = person(new_email())
    refused = browser.sign_in()
    assert refused.status_code == 403
    assert "You are not a member here" in refused.get_data(as_text=True)


@pytest.mark.parametrize("allowed", ["example.com", " EXAMPLE.com ,other.example"])
def test_addresses_of_allowed_domains_get_in(
    serve: Serve, provider: Provider, email: str, allowed: str
) -> None:
    assert Browser.of(serve(oidc_allowed_domains=allowed), provider).sign_in().status_code == 303


@pytest.mark.parametrize("allowed", ["example.org", "le.com", "mail.example.com"])
def test_other_addresses_do_not(serve: Serve, provider: Provider, email: str, allowed: str) -> None:
    refused = Browser.of(serve(oidc_allowed_domains=allowed), provider).sign_in()
    assert refused.status_code == 403
    assert "domain" in refused.get_data(as_text=True)


def test_allowed_sign_ins_of_the_organization_stay_in_force(
    runtime: Runtime, browser: Browser, org: Org, email: str
) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        setting = {"key": "allowed_sign_ins", "value": ["*@elsewhere.example"], "updated_by": "t"}
        session.add(OrganizationSetting(org_id=org.uuid, **setting))
    assert browser.sign_in().status_code == 403


def test_clocks_may_differ_by_a_minute(browser: Browser, provider: Provider, email: str) -> None:
    provider.claims = {"iat": ago(-60), "nbf": ago(-60), "exp": ago(60)}
    assert browser.sign_in().status_code == 303


def test_keys_rotate_without_a_restart(browser: Browser, provider: Provider, email: str) -> None:
    browser.sign_in()
    assert browser.sign_in().status_code == 303
    # Metadata and keys were read once.
    assert (provider.count("/.well-known/openid-configuration"), provider.count("/keys")) == (1, 1)
    provider.rotate()
    assert browser.sign_in().status_code == 303
    assert provider.count("/keys") == 2
    assert browser.sign_in().status_code == 303
    assert provider.count("/keys") == 2


def test_a_provider_may_tell_the_address_on_request_only(
    browser: Browser, provider: Provider, email: str
) -> None:
    told = provider.person
    provider.person, provider.told = {"sub": told["sub"]}, told
    assert browser.sign_in().status_code == 303
    assert browser.session().get_json()["email"] == email


def test_it_may_take_the_secret_in_the_form(
    browser: Browser, provider: Provider, email: str
) -> None:
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert browser.sign_in().status_code == 303


def test_without_the_provider_mailed_codes_go_on(runtime: Runtime, serve: Serve, org: Org) -> None:
    with running_provider() as gone:
        issuer = gone.issuer
    app = serve(oidc_issuer=issuer)
    browser = Browser.of(app, gone)
    down = browser.start()
    assert down.status_code == 503
    assert "sign in with a code" in down.get_data(as_text=True)
    assert down.headers["Retry-After"]
    email = new_email()
    add_member(runtime, org, email=email)
    Visitor.of(app).sign_in(runtime, email)


@pytest.mark.parametrize("at", ["/token", "/keys"])
def test_it_may_also_fail_in_between(
    browser: Browser, provider: Provider, email: str, at: str
) -> None:
    query = browser.authorize(browser.start())
    if at == "/keys":
        provider.published = [{"kty": "unknown"}]
    else:
        provider.fails_with = 500
    failed = browser.come_back(query)
    assert failed.status_code == 503
    assert "secret trouble" not in failed.get_data(as_text=True)
    provider.fails_with, provider.published = None, None
    assert browser.sign_in().status_code == 303


def test_the_page_names_the_provider(app: Flask, serve: Serve) -> None:
    meta = '<meta name="wp-oidc" content="Acme &amp; &quot;Sons&quot;">'
    with_it = serve(oidc_name='Acme & "Sons"').test_client().get("/sign-in").get_data(as_text=True)
    assert meta in with_it
    without = app.test_client()
    assert "wp-oidc" not in without.get("/sign-in").get_data(as_text=True)
    assert without.get("/sign-in/oidc").status_code == 404


def test_codes_can_be_switched_off(runtime: Runtime, serve: Serve, org: Org) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    code = new_code(runtime, email)
    app = serve(sign_in_codes=False)
    visitor = Visitor.of(app)
    for refused in (visitor.ask(email), visitor.enter(email, code)):
        require_error(refused, 403, "codes_off")
    off = '<meta name="wp-codes" content="off">'
    assert off in app.test_client().get("/sign-in").get_data(as_text=True)
    assert off not in serve().test_client().get("/sign-in").get_data(as_text=True)


@pytest.mark.parametrize("codes", [True, False])
def test_a_code_is_advised_only_where_there_are_codes(
    serve: Serve, provider: Provider, codes: bool
) -> None:
    provider.fails_with = 500
    answer = serve(sign_in_codes=codes).test_client().get("/sign-in/oidc")
    said = answer.get_data(as_text=True)
    assert (answer.status_code, "does not answer: try again" in said) == (503, True)
    assert ("sign in with a code" in said) is codes


def test_the_operator_can_unlink_an_address(
    runtime: Runtime, browser: Browser, provider: Provider, org: Org, email: str
) -> None:
    browser.sign_in()
    provider.person = person(email)
    assert browser.sign_in().status_code == 403
    with at_once(runtime.postgres, runtime.redis) as session:
        assert operator.unlink(session, org.uuid, email) == 1
    assert browser.session().status_code == 401
    assert browser.sign_in().status_code == 303
