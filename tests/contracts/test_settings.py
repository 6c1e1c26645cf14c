"""The settings of an organization, key by key."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers

Key = Callable[..., Headers]

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
    "dimensions.attribute_keys": ("string_list", [], None),
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
    "dimensions.attribute_keys": ["customer.plan"],
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


def test_these_are_the_settings(client: FlaskClient, key: Key) -> None:
    headers = key("settings:read")
    rows = client.get("/v1/settings", headers=headers).get_json()["settings"]
    assert {row["key"]: row["value"] for row in rows} == {
        name: default for name, (_, default, _) in SETTINGS.items()
    }
    entries = client.get("/v1/settings/schema", headers=headers).get_json()["settings"]
    assert entries == [row["schema"] for row in rows]
    for entry in entries:
        kind, default, bounds = SETTINGS[entry["key"]]
        assert (entry["kind"], entry["default"]) == (kind, default)
        assert (entry["min"], entry["max"]) == (bounds or (None, None))
        assert entry["title"]
        assert entry["description"]
        assert (entry["options"] is not None) == (kind in ("channel_set", "choice"))


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_can_be_set(client: FlaskClient, key: Key, name: str) -> None:
    headers, value = key(), VALUES[name]
    body = {"value": value, "ignored": 1}
    row = client.put(f"/v1/settings/{name}", json=body, headers=headers).get_json()
    assert row["key"] == row["schema"]["key"] == name
    assert row["value"] == ("" if SETTINGS[name][0] == "secret" else value)
    assert row["value_set"] is True
    assert row["updated_at"]
    assert row["updated_by"]
    assert row["scope"] == "org"
    rows = client.get("/v1/settings", headers=headers).get_json()["settings"]
    assert row in rows
    assert [one["key"] for one in rows if one["value_set"]] == [name]
