"""The table of all settings of an organization; to add a setting, add a row."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.foundation.core.channels import CAN_BE_OFF

# The JSON values that a setting can have.
Value = bool | str | int | list[str]


@dataclass(frozen=True)
class Setting:
    """A key, the rules for its values, and its default.

    `kind` selects the check of a value. `minimum`, `maximum` and `unit` belong to numbers,
    `options` to choices. `max_items` and `reserved` belong to lists: `reserved` are entries, in
    lower case, that a list must not contain in any case.
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
    max_items: int | None = None


CATALOGUE: Mapping[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting(
            "allowed_sign_ins",
            "email_allowlist",
            "Who may sign in",
            "Addresses, or *@domain for a whole domain. If empty, every member may sign in.",
            [],
        ),
        Setting(
            "session_ttl_secs",
            "positive_int",
            "Length of a sign-in session",
            "The time after which a person has to sign in again.",
            86_400,
            minimum=60,
            maximum=2_592_000,
            unit="seconds",
        ),
        Setting(
            "otp_ttl_secs",
            "positive_int",
            "Lifetime of a sign-in code",
            "The time for which a code sent by mail is valid.",
            600,
            minimum=60,
            maximum=3600,
            unit="seconds",
        ),
        Setting(
            "default_user_permissions",
            "permission_set_ref",
            "Permission set of new members",
            "An invitation without permissions grants this set.",
            "standard",
        ),
        Setting(
            "alerts.enabled_channels",
            "channel_set",
            "Channels of alerts",
            "Notifications go out over these channels only.",
            list(CAN_BE_OFF),
            options=CAN_BE_OFF,
        ),
        Setting(
            "alerts.email_default_recipients",
            "email_list",
            "Recipients of alerts",
            "The recipients of mail for alerts that name none.",
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
            "The URL for alerts that name none.",
            "",
        ),
        Setting(
            "alerts.webhook_signing_secret",
            "secret",
            "Webhook signing secret",
            "Signs the requests to webhooks. It is never shown again.",
            "",
        ),
        Setting(
            "retention.events_days",
            "positive_int",
            "Days that events are kept",
            "Older events, sessions whose last event is older, and older evaluations are deleted"
            " for good, within 15 minutes of a change and after each midnight (UTC). Nothing"
            " restores them. 0 keeps everything.",
            0,
            minimum=0,
            maximum=3650,
            unit="days",
        ),
        Setting(
            "retention.audit_log_days",
            "positive_int",
            "Days that the audit log is kept",
            "Older lines of the audit log are deleted for good. At least 90 days, so that nobody"
            " can remove the traces of a change soon after it.",
            730,
            minimum=90,
            maximum=3650,
            unit="days",
        ),
        Setting(
            "redaction.payload_keys",
            "string_list",
            "Redacted payload keys",
            "The values of these keys, in upper or lower case and at any depth, are replaced before"
            " an event is stored. The fields that every event has cannot be redacted.",
            [],
            reserved=("session_id", "timestamp", "type", "agent_id", "environment"),
        ),
        Setting(
            "dimensions.attribute_keys",
            "string_list",
            "Further attributes",
            "Paths in the payload of events (customer.plan) and names of OpenTelemetry attributes"
            " whose values become attributes as well.",
            [],
            max_items=32,
        ),
        Setting(
            "otel.ingest_enabled",
            "boolean",
            "Accept OpenTelemetry",
            "If off, spans and log records are refused with 403.",
            True,
        ),
        Setting(
            "otel.other_spans",
            "choice",
            "Spans that are not of agents, models, tools, retrievals or guardrails",
            "in_agent_traces: stored if their trace has a session name or a span of one of those"
            " kinds. all: always stored. none: never stored.",
            "in_agent_traces",
            options=("in_agent_traces", "all", "none"),
        ),
        Setting(
            "otel.session_wait_secs",
            "positive_int",
            "Wait for the session of a trace",
            "The longest time that spans wait for a span that names their session, or for the root"
            " of their trace. Then the trace id is the session.",
            5,
            minimum=0,
            maximum=60,
            unit="seconds",
        ),
        Setting(
            "limits.key_requests_per_sec",
            "positive_int",
            "Requests of a key a second",
            "Further requests of the key are refused with 429, exports of OpenTelemetry with 503."
            " 0 sets no limit.",
            0,
            minimum=0,
            maximum=100_000,
            unit="requests",
        ),
        Setting(
            "limits.key_events_per_sec",
            "positive_int",
            "Events of a key a second",
            "On average: a batch is accepted as a whole, and later ones wait for it. Spans and log"
            " records count as events. 0 sets no limit.",
            0,
            minimum=0,
            maximum=10_000_000,
            unit="events",
        ),
        Setting(
            "limits.org_events_per_day",
            "positive_int",
            "Events of the organization a day",
            "A batch that would exceed the number of the day (UTC) is refused with 429, an export"
            " of OpenTelemetry with 503. 0 sets no limit.",
            0,
            minimum=0,
            maximum=1_000_000_000_000,
            unit="events",
        ),
        Setting(
            "limits.mode",
            "choice",
            "What limits do",
            "enforce: requests over a limit are refused. report: they are only counted.",
            "enforce",
            options=("enforce", "report"),
        ),
        Setting(
            "exports.schedule",
            "choice",
            "Scheduled exports",
            "hourly, daily: the events, sessions and evaluations of each hour or day (UTC) are"
            " written as files to the place that the operator has chosen. off: none are written.",
            "off",
            options=("off", "hourly", "daily"),
        ),
        Setting(
            "exports.format",
            "choice",
            "Format of scheduled exports",
            "Files that exist keep theirs until they are written again.",
            "ndjson",
            options=("ndjson", "parquet"),
        ),
        Setting(
            "assistant.daily_tokens",
            "positive_int",
            "Tokens of the assistant a day",
            "Questions are refused once the organization's answers of the day (UTC) have used this"
            " many tokens. 0 refuses all.",
            1_000_000,
            minimum=0,
            maximum=1_000_000_000,
            unit="tokens",
        ),
    )
}
