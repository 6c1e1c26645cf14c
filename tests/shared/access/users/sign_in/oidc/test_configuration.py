"""The variables of sign-in at a provider."""

import pytest

from shared.access.users.sign_in.oidc.configuration import GroupRule, OidcConfig, config_of
from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError

VARIABLES = {
    "DATABASE_URL": "postgresql://a/b",
    "REDIS_URL": "redis://a",
    "CLICKHOUSE_URL": "clickhouse://a",
    "PUBLIC_URL": "https://watch.example.org/",
    "OIDC_ISSUER": "https://login.example.org/realms/main",
    "OIDC_CLIENT_ID": "watchpost",
}


def config(**changes: str) -> OidcConfig:
    return config_of(load_settings({**VARIABLES, **changes}))


def test_the_redirect_uri_is_made_of_the_public_url() -> None:
    assert config().redirect_uri == "https://watch.example.org/sign-in/oidc/callback"


def test_rules_keep_their_order() -> None:
    groups = '{"groups": {"b": {"acme": "admin"}, "a": {"acme": "standard", "x": "read-only"}}}'
    assert config(OIDC_GROUPS=groups).rules == (
        GroupRule("groups", "b", "acme", "admin"),
        GroupRule("groups", "a", "acme", "standard"),
        GroupRule("groups", "a", "x", "read-only"),
    )


def test_domains_are_compared_in_lower_case() -> None:
    domains = config(OIDC_ALLOWED_DOMAINS=" Example.org ,,b.test").allowed_domains
    assert domains == {"example.org", "b.test"}


def test_the_secret_is_not_shown() -> None:
    assert "geheim" not in repr(config(OIDC_CLIENT_SECRET="geheim"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"PUBLIC_URL": ""}, "PUBLIC_URL is not set"),
        ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID is not set"),
        ({"OIDC_ISSUER": "http://login.example.org"}, "OIDC_ISSUER must start with https"),
        ({"OIDC_ISSUER": "https://a@login.example.org"}, "OIDC_ISSUER must start with https"),
        ({"OIDC_ISSUER": "login.example.org"}, "OIDC_ISSUER must start with"),
        ({"OIDC_SCOPES": "email"}, "OIDC_SCOPES must contain"),
        ({"OIDC_ALLOWED_DOMAINS": "*@example.org"}, "OIDC_ALLOWED_DOMAINS: expected"),
        ({"OIDC_GROUPS": "groups=a"}, "OIDC_GROUPS: expected JSON"),
        ({"OIDC_GROUPS": '{"groups": ["a"]}'}, "OIDC_GROUPS: expected JSON"),
        ({"OIDC_GROUPS": '{"groups": {"a": {"Acme Inc": "admin"}}}'}, "'Acme Inc' is not the slug"),
    ],
    ids=str,
)
def test_what_is_not_valid_is_named(changes: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        config(**changes)
