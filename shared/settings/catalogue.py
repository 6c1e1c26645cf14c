"""Every setting of an organization, as one table: to add a setting, add a row."""

from collections.abc import Mapping
from dataclasses import dataclass

# What a setting can hold, as JSON has it.
Value = str | int | list[str]


@dataclass(frozen=True)
class Setting:
    """A key, what its values are, and its value where nobody set one.

    `kind` decides how a value is checked; `minimum`, `maximum` and `unit` belong to numbers,
    `options` to choices, `reserved` to lists: in lower case, what they may not hold in any case.
    """

    key: str
    kind: str
    title: str
    description: str
    default: Value
    minimum: int | None = None
    maximum: int | None = None
    unit: str | None = None
    options: tuple[str, ...] | None = None
    reserved: tuple[str, ...] = ()


CHANNELS = ("email", "slack", "webhook")

CATALOGUE: Mapping[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting(
            "allowed_sign_ins",
            "email_allowlist",
            "Who may sign in",
            "Addresses, or *@domain for all of a domain; empty lets every member in.",
            [],
        ),
        Setting(
            "session_ttl_secs",
            "positive_int",
            "Length of a session",
            "How long somebody stays signed in.",
            86_400,
            minimum=60,
            maximum=2_592_000,
            unit="seconds",
        ),
        Setting(
            "otp_ttl_secs",
            "positive_int",
            "Life of a sign-in code",
            "How long a code that was sent by mail can be used.",
            600,
            minimum=60,
            maximum=3600,
            unit="seconds",
        ),
        Setting(
            "default_user_permissions",
            "permission_set_ref",
            "Permission set of new members",
            "What an invitation grants when it says nothing else.",
            "standard",
        ),
        Setting(
            "alerts.enabled_channels",
            "channel_set",
            "Channels of alerts",
            "Notifications go out over these channels only.",
            list(CHANNELS),
            options=CHANNELS,
        ),
        Setting(
            "alerts.email_default_recipients",
            "email_list",
            "Recipients of alerts",
            "Who gets mail where an alert names nobody.",
            [],
        ),
        Setting(
            "alerts.slack_default_webhook",
            "url",
            "Slack webhook",
            "The incoming webhook of alerts that name none.",
            "",
        ),
        Setting(
            "alerts.webhook_default_url",
            "url",
            "Webhook",
            "Where alerts that name no URL are posted to.",
            "",
        ),
        Setting(
            "alerts.webhook_signing_secret",
            "secret",
            "Webhook signing secret",
            "Signs what is posted to webhooks; it is never shown again.",
            "",
        ),
        Setting(
            "retention.events_days",
            "positive_int",
            "Days that events are kept",
            "Older events, sessions whose last event is older, and older evaluations are deleted"
            " for good, within 15 minutes of the setting and after each midnight (UTC): nothing"
            " brings back what a shorter time has removed. 0 keeps them.",
            0,
            minimum=0,
            maximum=3650,
            unit="days",
        ),
        Setting(
            "redaction.payload_keys",
            "string_list",
            "Redacted payload keys",
            "The values of these keys, in upper or lower case and at any depth, are replaced before"
            " an event is stored. The fields that every event has cannot be among them.",
            [],
            reserved=("session_id", "timestamp", "type", "agent_id", "environment"),
        ),
    )
}
