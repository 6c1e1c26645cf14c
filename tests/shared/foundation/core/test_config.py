"""Variables that depend on each other."""

from pathlib import Path

import pytest

from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError

STORES = {
    "DATABASE_URL": "postgresql://a/b",
    "REDIS_URL": "redis://a",
    "CLICKHOUSE_URL": "clickhouse://a",
}


def test_mail_needs_a_server_and_a_sender_only() -> None:
    settings = load_settings({**STORES, "SMTP_HOST": "mail", "SMTP_FROM": "Watch <w@example.org>"})
    assert (settings.smtp_port, settings.smtp_tls, settings.smtp_username) == (587, True, None)
    assert load_settings({**STORES, "SMTP_TLS": "0"}).smtp_tls is False


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"SMTP_HOST": "mail"}, "SMTP_FROM is not set"),
        ({"SMTP_USERNAME": "watch"}, "SMTP_PASSWORD is not set"),
        ({"SMTP_PORT": "mail"}, "SMTP_PORT"),
        ({"SMTP_TLS": "perhaps"}, "SMTP_TLS"),
    ],
    ids=str,
)
def test_missing_mail_variables_are_named(variables: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        load_settings({**STORES, **variables})


@pytest.mark.parametrize(
    "sender", ["watchpost", "a@b, c@d", "a@", "@b", "a b@c", "Watch, Inc. <a@b>", "a@b\nBcc: c@d"]
)
def test_the_sender_of_mail_is_one_address(sender: str) -> None:
    with pytest.raises(ConfigurationError, match="SMTP_FROM: expected one address"):
        load_settings({**STORES, "SMTP_FROM": sender})


@pytest.mark.parametrize(
    ("url", "is_taken"),
    [
        ("https://otlp.example.com", True),
        ("http://10.0.0.7:4317", True),
        ("https://[2001:db8::1]:4317", True),
        ("otlp.example.com:4317", False),
        ("grpc://otlp.example.com:4317", False),
        ("https://otlp.example.com:4317/v1", False),
        ("https://ann@otlp.example.com", False),
        ("https://", False),
    ],
)
def test_the_url_for_exporters_is_a_scheme_a_host_and_a_port(url: str, *, is_taken: bool) -> None:
    variables = {**STORES, "OTLP_GRPC_PUBLIC_URL": url}
    if is_taken:
        assert load_settings(variables).otlp_grpc_public_url == url
        return
    with pytest.raises(ConfigurationError, match="OTLP_GRPC_PUBLIC_URL"):
        load_settings(variables)


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "127.0.0.1"),
        ({"PORT": "5000"}, "0.0.0.0"),  # noqa: S104 nothing listens
        ({"PORT": "5000", "WEB_BIND": "127.0.0.1"}, "127.0.0.1"),
    ],
    ids=str,
)
def test_a_port_alone_is_a_platforms(variables: dict[str, str], address: str) -> None:
    assert load_settings({**STORES, **variables}).web_bind == address


def test_codes_go_only_where_a_provider_signs_people_in() -> None:
    provider = {"OIDC_ISSUER": "https://login.example.org", "OIDC_CLIENT_ID": "watchpost"}
    assert load_settings({**STORES, **provider, "SIGN_IN_CODES": "0"}).sign_in_codes is False
    with pytest.raises(ConfigurationError, match="SIGN_IN_CODES=0 needs OIDC_ISSUER"):
        load_settings({**STORES, "SIGN_IN_CODES": "0"})


@pytest.mark.parametrize(
    "variables",
    [
        {"ADMIN_KEY": "change-me-to-32-random-characters"},
        {"PROXY_AUTH_SECRET": "Change-me 0123456789"},
        {"DATABASE_URL": "postgresql://watchpost:change-me@postgres:5432/watchpost"},
        {"CLICKHOUSE_URL": "clickhouse://watchpost:change-me@clickhouse:9000/watchpost"},
    ],
    ids=str,
)
def test_a_secret_of_an_example_is_refused(variables: dict[str, str]) -> None:
    [name] = variables
    with pytest.raises(ConfigurationError, match=f"{name} still has the value of an example"):
        load_settings({**STORES, **variables})


def test_the_example_of_kubernetes_does_not_start() -> None:
    _, example = Path("deploy/kubernetes/config.yaml").read_text().split("stringData:\n")
    variables = dict(line.strip().split(": ", 1) for line in example.splitlines())
    assert load_settings({**variables, **STORES, "ADMIN_KEY": "", "CLICKHOUSE_READONLY_URL": ""})
    for name in variables.keys() - {"REDIS_URL"}:
        with pytest.raises(ConfigurationError, match=f"{name} still has"):
            load_settings({**STORES, name: variables[name]})
