"""The settings of an organization, key by key."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.document import Document

Key = Callable[..., Headers]

PUT = "/v1/settings/{key}"

# Kind, default, and the bounds of numbers.
SETTINGS: dict[str, tuple[str, Any, tuple[int, int] | None]] = {
    "allowed_sign_ins": ("email_allowlist", [], None),
    "session_ttl_secs": ("positive_int", 86400, (60, 2592000)),
    "otp_ttl_secs": ("positive_int", 600, (60, 3600)),
    "default_user_permissions": ("permission_set_ref", "standard", None),
    "alerts.enabled_channels": ("channel_set", ["email", "slack", "webhook"], None),
    "alerts.email_default_recipients": ("email_list", [], None),
    "alerts.slack_default_webhook": ("url", "", None),
    "alerts.webhook_default_url": ("url", "", None),
    "alerts.webhook_signing_secret": ("secret", "", None),
    "retention.events_days": ("positive_int", 0, (0, 3650)),
    "retention.audit_log_days": ("positive_int", 730, (90, 3650)),
    "redaction.payload_keys": ("string_list", [], None),
    "otel.ingest_enabled": ("boolean", True, None),
    "otel.other_spans": ("choice", "in_agent_traces", None),
    "otel.session_wait_secs": ("positive_int", 5, (0, 60)),
    "limits.key_requests_per_sec": ("positive_int", 0, (0, 100_000)),
    "limits.key_events_per_sec": ("positive_int", 0, (0, 10_000_000)),
    "limits.org_events_per_day": ("positive_int", 0, (0, 1_000_000_000_000)),
    "limits.mode": ("choice", "enforce", None),
    "exports.schedule": ("choice", "off", None),
    "exports.format": ("choice", "ndjson", None),
    "assistant.daily_tokens": ("positive_int", 1_000_000, (0, 1_000_000_000)),
}

# One value of each key that is not its default.
VALUES: dict[str, Any] = {
    "allowed_sign_ins": ["ann@example.com", "*@example.org"],
    "session_ttl_secs": 3600,
    "otp_ttl_secs": 300,
    "default_user_permissions": "read-only",
    "alerts.enabled_channels": ["email"],
    "alerts.email_default_recipients": ["ann@example.com"],
    "alerts.slack_default_webhook": "https://hooks.example.com/services/T/B/x",
    "alerts.webhook_default_url": "http://hooks.example.com:8080/in",
    "alerts.webhook_signing_secret": "s3cret",
    "retention.events_days": 90,
    "retention.audit_log_days": 365,
    "redaction.payload_keys": ["password", "api_key"],
    "otel.ingest_enabled": False,
    "otel.other_spans": "none",
    "otel.session_wait_secs": 0,
    "limits.key_requests_per_sec": 1000,
    "limits.key_events_per_sec": 1000,
    "limits.org_events_per_day": 1_000_000,
    "limits.mode": "report",
    # The only value that a deployment without EXPORT_TARGET takes.
    "exports.schedule": "off",
    "exports.format": "parquet",
    "assistant.daily_tokens": 5000,
}


def test_these_are_the_settings(client: FlaskClient, document: Document, key: Key) -> None:
    answer = client.get("/v1/settings", headers=key("settings:read"))
    rows = document.require(answer, "GET", "/v1/settings")["settings"]
    assert {row["key"]: row["value"] for row in rows} == {
        name: default for name, (_, default, _) in SETTINGS.items()
    }
    answer = client.get("/v1/settings/schema", headers=key("settings:read"))
    entries = document.require(answer, "GET", "/v1/settings/schema")["settings"]
    assert entries == [row["schema"] for row in rows]
    for entry in entries:
        kind, default, bounds = SETTINGS[entry["key"]]
        assert (entry["kind"], entry["default"]) == (kind, default)
        assert (entry["min"], entry["max"]) == (bounds or (None, None))
        assert entry["title"]
        assert entry["description"]
        assert (entry["options"] is not None) == (kind in ("channel_set", "choice"))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("wrapped", [True, False])
def test_every_setting_can_be_set(
    client: FlaskClient, document: Document, key: Key, name: str, wrapped: bool
) -> None:
    headers, value = key(), VALUES[name]
    body = {"value": value, "ignored": 1} if wrapped else value
    row = document.require(
        client.put(f"/v1/settings/{name}", json=body, headers=headers), "PUT", PUT
    )
    assert row["key"] == row["schema"]["key"] == name
    assert row["value"] == ("" if SETTINGS[name][0] == "secret" else value)
    assert row["value_set"] is True
    assert row["updated_at"]
    assert row["updated_by"]
    assert row["scope"] == "org"
    rows = client.get("/v1/settings", headers=headers).get_json()["settings"]
    assert row in rows
    assert [one["key"] for one in rows if one["value_set"]] == [name]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("unknown", 1, 404),
        ("session_ttl_secs", 59, 422),
        ("session_ttl_secs", 60, 200),
        ("session_ttl_secs", 2592000, 200),
        ("session_ttl_secs", 2592001, 422),
        ("otp_ttl_secs", 59, 422),
        ("otp_ttl_secs", 60, 200),
        ("otp_ttl_secs", 3600, 200),
        ("otp_ttl_secs", 3601, 422),
        ("retention.events_days", 0, 200),
        ("retention.events_days", 3650, 200),
        ("retention.events_days", 3651, 422),
        ("retention.events_days", -1, 422),
        ("retention.events_days", "7", 422),
        ("default_user_permissions", "unknown", 422),
        ("alerts.enabled_channels", ["dashboard"], 422),
        ("alerts.slack_default_webhook", "hooks", 422),
        ("redaction.payload_keys", "password", 422),
        ("allowed_sign_ins", ["@example.com"], 422),
        ("allowed_sign_ins", [], 200),
        ("alerts.enabled_channels", [], 200),
        ("alerts.webhook_default_url", "", 200),
        ("alerts.email_default_recipients", ["*@example.com"], 422),
        ("session_ttl_secs", True, 422),
        ("session_ttl_secs", 60.0, 422),
        ("session_ttl_secs", {"value": 60}, 422),
        ("redaction.payload_keys", [1], 422),
        ("redaction.payload_keys", [""], 422),
    ],
)
def test_the_bounds_of_values(
    client: FlaskClient, document: Document, key: Key, name: str, value: object, status: int
) -> None:
    answer = client.put(f"/v1/settings/{name}", json={"value": value}, headers=key())
    assert answer.status_code == status, answer.data
    body = document.require(answer, "PUT", PUT)
    if status == 422:
        assert body["fields"].keys() == {"value"}


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("retention.events_days", b"0", 200),
        ("retention.events_days", b"false", 422),
        ("retention.events_days", b"1.5", 422),
        ("retention.events_days", b'"1"', 422),
        ("alerts.webhook_default_url", b'""', 200),
        ("alerts.webhook_signing_secret", b'"a bare secret"', 200),
        ("allowed_sign_ins", b"[]", 200),
        ("allowed_sign_ins", b"{}", 422),
        ("allowed_sign_ins", b"null", 200),
        ("allowed_sign_ins", b"*@example.com", 400),
        ("unknown", b"0", 404),
    ],
)
def test_bare_values_of_every_kind(
    client: FlaskClient, document: Document, key: Key, name: str, value: bytes, status: int
) -> None:
    """Values that are false in Python are values like any other."""
    path = f"/v1/settings/{name}"
    answer = client.put(path, data=value, content_type="application/json", headers=key())
    assert answer.status_code == status, answer.data
    document.require(answer, "PUT", PUT)


def test_an_allowlist_that_locks_its_editor_out_is_refused(
    client: FlaskClient, document: Document, person: Callable[..., Headers]
) -> None:
    me = person(email="me@lockout.example")
    for value, status in (["*@other.example"], 422), (["*@lockout.example"], 200):
        answer = client.put("/v1/settings/allowed_sign_ins", json={"value": value}, headers=me)
        assert answer.status_code == status
        document.require(answer, "PUT", PUT)
