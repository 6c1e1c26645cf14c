"""Request and response schemas of the routes of audits."""

from typing import Any

from marshmallow import Schema, fields

from shared.audits.rules import (
    DEFAULT_INTERVAL_SECS,
    DEFAULT_LOOKBACK_SECS,
    DEFAULT_TOP_K,
    MAX_ANCHOR_AHEAD,
    MAX_CONTEXT_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_INTERVAL_SECS,
    MAX_LOOKBACK_SECS,
    MAX_NAME_LENGTH,
    MAX_TOP_K,
    MAX_URL_LENGTH,
    MAX_URLS,
    MAX_VALUE_LENGTH,
    MAX_VALUES,
    MIN_INTERVAL_SECS,
    MIN_LOOKBACK_SECS,
    SENSITIVITIES,
    WINDOW_MODES,
)
from shared.audits.runs.requests import DEFAULT_PAGE, MAX_PAGE
from shared.audits.signals import NAMES
from web.params import Body, Limit, Offset, Timestamp, count_field, name_field, switch_field

_WHO = {"description": "the address of a person or the name of a key"}
_MODES = {"enum": list(WINDOW_MODES)}
_SENSITIVITY = {"enum": list(SENSITIVITIES)}
_ENDED = ["running", "succeeded", "failed"]


def _values(description: str) -> fields.List[Any]:
    return fields.List(
        fields.String(metadata={"minLength": 1, "maxLength": MAX_VALUE_LENGTH}),
        load_default=None,
        allow_none=True,
        metadata={"maxItems": MAX_VALUES, "description": description},
    )


class AuditScopeBody(Body):
    """The scope of an audit. Empty lists do not restrict it."""

    environments = _values("only events of these environments")
    agent_ids = _values("only events of these agents")


class AuditBody(Body):
    """An audit. An absent or null field gets its default on creation and stays unchanged later."""

    name = name_field(MAX_NAME_LENGTH)
    # Null removes it, so null has to differ from absent.
    description = fields.String(
        allow_none=True,
        metadata={
            "maxLength": MAX_DESCRIPTION_LENGTH,
            "description": "null removes it",
            "example": "An example of a description",
        },
    )
    enabled = switch_field(True, "a disabled audit never runs")
    schedule_interval_secs = count_field(
        DEFAULT_INTERVAL_SECS, MIN_INTERVAL_SECS, MAX_INTERVAL_SECS, "seconds from run to run"
    )
    schedule_anchor = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "runs begin here and at every interval after it; the next 09:00 UTC for"
            f" a new audit, at most {MAX_ANCHOR_AHEAD.days} days ahead"
        },
    )
    window_mode = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            **_MODES,
            "default": WINDOW_MODES[0],
            "description": "`since_last`: the events since the last run that succeeded;"
            " `fixed`: those of the last `lookback_window_secs`",
        },
    )
    lookback_window_secs = count_field(
        DEFAULT_LOOKBACK_SECS,
        MIN_LOOKBACK_SECS,
        MAX_LOOKBACK_SECS,
        "length of a `fixed` window, and of the first window of `since_last`",
    )
    scope = fields.Nested(AuditScopeBody, load_default=None, allow_none=True)
    signals = fields.List(
        fields.String(metadata={"enum": list(NAMES)}),
        load_default=None,
        allow_none=True,
        metadata={"description": "signals to look for; empty: all of them"},
    )
    ignore_error_types = _values("errors of these types are not counted as errors")
    sensitivity = fields.String(
        load_default=None, allow_none=True, metadata={**_SENSITIVITY, "default": "medium"}
    )
    top_k = count_field(
        DEFAULT_TOP_K, 1, MAX_TOP_K, "number of findings that a run files, most urgent first"
    )
    llm_enabled = switch_field(
        True, "have a report written, where the deployment has a language model"
    )
    channels = fields.List(
        fields.Dict(),
        load_default=None,
        allow_none=True,
        metadata={
            "description": "channels that announce incidents of critical findings, as for alerts",
            "example": [{"kind": "dashboard"}],
        },
    )


class AuditScope(Schema):
    """The scope of an audit. Empty lists do not restrict it."""

    environments = fields.List(fields.String(), required=True)
    agent_ids = fields.List(fields.String(), required=True)


class AuditRow(Schema):
    """An audit, the result of its last run, and the time of its next one."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)
    description = fields.String(required=True, allow_none=True)
    enabled = fields.Boolean(required=True)
    schedule_interval_secs = fields.Integer(required=True)
    schedule_anchor = Timestamp(required=True)
    window_mode = fields.String(required=True, metadata=_MODES)
    lookback_window_secs = fields.Integer(required=True)
    scope = fields.Nested(AuditScope, required=True)
    signals = fields.List(fields.String(), required=True)
    ignore_error_types = fields.List(fields.String(), required=True)
    sensitivity = fields.String(required=True, metadata=_SENSITIVITY)
    top_k = fields.Integer(required=True)
    llm_enabled = fields.Boolean(required=True)
    channels = fields.List(fields.Dict(), required=True)
    created_by = fields.String(required=True, metadata=_WHO)
    created_at = Timestamp(required=True)
    updated_at = Timestamp(required=True)
    open_findings = fields.Integer(
        required=True, metadata={"description": "findings that are open or recurring"}
    )
    last_run_status = fields.String(required=True, allow_none=True, metadata={"enum": _ENDED})
    last_run_finished_at = Timestamp(
        required=True, allow_none=True, metadata={"description": "null while it runs"}
    )
    last_attempted_at = Timestamp(
        required=True, allow_none=True, metadata={"description": "start of the last run"}
    )
    next_attempt_at = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "due time of the next run, null while the audit is disabled"},
    )
    last_error = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "reason why the last run failed, or did not start when it was due"
        },
    )
    additional_context = fields.String(
        required=True, metadata={"description": "the text of its context"}
    )
    reference_url_count = fields.Integer(
        required=True, metadata={"description": "number of URLs in its context"}
    )


class QueuedAuditRun(Schema):
    """A run that starts as soon as a worker is free."""

    queued = fields.Boolean(required=True)
    run_id = fields.UUID(required=True)


class AuditRunQuery(Schema):
    """The filters of a list of runs."""

    limit = Limit(default=DEFAULT_PAGE, cap=MAX_PAGE)
    offset = Offset()


class AuditRunRow(Schema):
    """One run that has started."""

    id = fields.UUID(required=True)
    audit_id = fields.UUID(required=True)
    status = fields.String(required=True, metadata={"enum": _ENDED})
    trigger_kind = fields.String(required=True, metadata={"enum": ["scheduled", "manual"]})
    window_from = Timestamp(required=True, metadata={"description": "events at or after this time"})
    window_to = Timestamp(required=True, metadata={"description": "events before this time"})
    started_at = Timestamp(required=True)
    finished_at = Timestamp(required=True, allow_none=True)
    stats = fields.Dict(
        required=True,
        metadata={
            "description": "once the findings are filed: `total_sessions` and `events` of the"
            " window, `signals` (the `candidates` and `elapsed_ms` of each), `failed_signals` (the"
            " reason for each) and, if a requested report is missing, `report_error`"
        },
    )
    findings_count = fields.Integer(required=True, metadata={"description": "findings of the run"})
    new_findings_count = fields.Integer(
        required=True, metadata={"description": "findings that no earlier run had"}
    )
    report = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "a report of the findings, in Markdown"},
    )
    error = fields.String(required=True, allow_none=True)


_CONTEXT_TEXT = {
    "maxLength": MAX_CONTEXT_LENGTH,
    "description": "background about the agents for the writer of the report",
}
_URL = fields.String(metadata={"format": "uri", "maxLength": MAX_URL_LENGTH})
_URLS = {
    "maxItems": MAX_URLS,
    "description": "https only; passed to the writer of the report as text, never fetched",
}


class AuditContextBody(Body):
    """The context as a whole. Absent and null fields become empty."""

    text = fields.String(
        load_default=None,
        allow_none=True,
        metadata={**_CONTEXT_TEXT, "example": "An example of a text"},
    )
    urls = fields.List(_URL, load_default=None, allow_none=True, metadata=_URLS)


class AuditContext(Schema):
    """The background that people wrote about their agents."""

    text = fields.String(required=True, metadata=_CONTEXT_TEXT)
    urls = fields.List(_URL, required=True, metadata=_URLS)
