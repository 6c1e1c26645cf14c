"""The values that each kind of setting accepts, and their stored form."""

import pytest

from shared.access.settings.catalogue import CATALOGUE
from shared.access.settings.rules import lets_in, normal_value
from shared.foundation.core.errors import Invalid

CASES: list[tuple[str, object, object]] = [
    ("allowed_sign_ins", [], []),
    (
        "allowed_sign_ins",
        [" Ann@Example.COM", "*@Example.com", "ann@example.com", "*@BÜCHER.example"],
        ["ann@example.com", "*@example.com", "*@bücher.example"],
    ),
    ("session_ttl_secs", 60, 60),
    ("session_ttl_secs", 2_592_000, 2_592_000),
    ("otp_ttl_secs", 3600, 3600),
    ("retention.events_days", 0, 0),
    ("retention.events_days", 3650, 3650),
    ("default_user_permissions", "read-only", "read-only"),
    ("alerts.enabled_channels", [], []),
    ("alerts.enabled_channels", ["webhook", "email", "webhook"], ["email", "webhook"]),
    ("alerts.email_default_recipients", ["A@x.example", "a@X.example"], ["a@x.example"]),
    ("alerts.webhook_default_url", "", ""),
    ("alerts.webhook_default_url", " https://x.example/a?b=c#d ", "https://x.example/a?b=c#d"),
    ("alerts.webhook_default_url", "HTTP://[::1]:8080", "HTTP://[::1]:8080"),
    ("alerts.webhook_default_url", "https://x/" + "y" * 2038, "https://x/" + "y" * 2038),
    ("alerts.webhook_signing_secret", "", ""),
    ("alerts.webhook_signing_secret", "s" * 512, "s" * 512),
    ("redaction.payload_keys", ["b", "a", "b", "ö" * 256], ["b", "a", "ö" * 256]),
    ("redaction.payload_keys", [f"k{n}" for n in range(500)], [f"k{n}" for n in range(500)]),
    ("otel.ingest_enabled", False, False),
    ("otel.other_spans", "none", "none"),
    ("otel.session_wait_secs", 0, 0),
    ("otel.session_wait_secs", 60, 60),
]


@pytest.mark.parametrize(("key", "value", "stored"), CASES)
def test_a_value_has_one_form(key: str, value: object, stored: object) -> None:
    assert normal_value(CATALOGUE[key], value) == stored
    assert normal_value(CATALOGUE[key], stored) == stored


REFUSED: list[tuple[str, object]] = [
    ("allowed_sign_ins", "ann@example.com"),
    ("allowed_sign_ins", ["*@"]),
    ("allowed_sign_ins", ["*"]),
    ("allowed_sign_ins", ["*@x.example,*@y.example"]),
    ("allowed_sign_ins", ["ann*@x.example@y.example"]),
    ("allowed_sign_ins", [7]),
    ("allowed_sign_ins", {"0": "ann@example.com"}),
    ("allowed_sign_ins", [f"p{n}@example.com" for n in range(501)]),
    ("session_ttl_secs", 59),
    ("session_ttl_secs", 2_592_001),
    ("session_ttl_secs", True),
    ("session_ttl_secs", 60.0),
    ("session_ttl_secs", "60"),
    ("session_ttl_secs", 10**30),
    ("otp_ttl_secs", 3601),
    ("retention.events_days", -1),
    ("retention.events_days", False),
    ("retention.events_days", 3651),
    ("default_user_permissions", ["standard"]),
    ("alerts.enabled_channels", ["email", "pager"]),
    ("alerts.enabled_channels", "email"),
    ("alerts.enabled_channels", [["email"]]),
    ("alerts.email_default_recipients", ["*@example.com"]),
    ("alerts.email_default_recipients", ["nobody"]),
    ("alerts.slack_default_webhook", "hooks.example/x"),
    ("alerts.slack_default_webhook", "//hooks.example/x"),
    ("alerts.slack_default_webhook", "ftp://hooks.example/x"),
    ("alerts.slack_default_webhook", "javascript:alert(1)"),
    ("alerts.slack_default_webhook", "https://"),
    ("alerts.slack_default_webhook", "https:///x"),
    ("alerts.slack_default_webhook", "https://:443/x"),
    ("alerts.slack_default_webhook", "https://x:99999/"),
    ("alerts.slack_default_webhook", "https://x:port/"),
    ("alerts.slack_default_webhook", "https://user:pass@x.example/"),
    ("alerts.slack_default_webhook", "https://@x.example/"),
    ("alerts.slack_default_webhook", "https://[::1/"),
    ("alerts.slack_default_webhook", "https://x.example/a b"),
    ("alerts.slack_default_webhook", "https://x.example/\r\nHost: y"),
    ("alerts.slack_default_webhook", "https://x/" + "y" * 2039),
    ("alerts.webhook_signing_secret", "s" * 513),
    ("alerts.webhook_signing_secret", "line\nbreak"),
    ("alerts.webhook_signing_secret", 7),
    ("redaction.payload_keys", [""]),
    ("redaction.payload_keys", ["k" * 257]),
    ("redaction.payload_keys", ["nul\0"]),
    ("redaction.payload_keys", ["k"] * 501),
    ("redaction.payload_keys", [None]),
    ("otel.ingest_enabled", 1),
    ("otel.ingest_enabled", "off"),
    ("otel.ingest_enabled", []),
    ("otel.other_spans", "None"),
    ("otel.other_spans", ["all"]),
    ("otel.other_spans", False),
    ("otel.session_wait_secs", 61),
    ("otel.session_wait_secs", -1),
    ("otel.session_wait_secs", False),
]


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_anything_else_is_refused_and_not_repeated(key: str, value: object) -> None:
    with pytest.raises(Invalid) as refusal:
        normal_value(CATALOGUE[key], value)
    assert refusal.value.fields.keys() == {"value"}
    if isinstance(value, str):
        assert value not in str(refusal.value.fields) + refusal.value.message


@pytest.mark.parametrize("key", CATALOGUE)
def test_a_default_is_a_value_that_could_be_set(key: str) -> None:
    default = CATALOGUE[key].default
    assert normal_value(CATALOGUE[key], default) == default


@pytest.mark.parametrize(
    ("allowlist", "address", "inside"),
    [
        ([], "ann@x.example", True),
        (["ann@x.example"], "ann@x.example", True),
        (["*@x.example"], "ann@x.example", True),
        (["*@x.example"], "ann@sub.x.example", False),
        (["*@x.example"], "ann@notx.example", False),
        (["ben@x.example", "*@y.example"], "ann@x.example", False),
    ],
)
def test_an_allowlist_lets_addresses_and_domains_in(
    allowlist: list[str], address: str, inside: bool
) -> None:
    assert lets_in(allowlist, address) is inside


def test_invalid_items_of_a_list_are_named() -> None:
    for value in (["a", "Session_ID", "type"], ["TYPE", "session_id"]):
        with pytest.raises(Invalid) as refusal:
            normal_value(CATALOGUE["redaction.payload_keys"], value)
        assert refusal.value.fields == {"value": ["must not contain session_id, type"]}
