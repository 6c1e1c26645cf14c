"""Variables that depend on each other."""

import pytest

from shared.core.config import load_settings
from shared.core.errors import ConfigurationError

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
