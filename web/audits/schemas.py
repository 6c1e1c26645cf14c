"""Request and response schemas of the routes of audits."""

from marshmallow import Schema

from shared.watch.audits import rules
from shared.watch.audits.runs.requests import DEFAULT_PAGE, MAX_PAGE
from shared.watch.audits.signals import NAMES
from web import fields
from web.channels import CHANNEL
from web.params import Body, Limit, Offset

_ENDED = ["running", "succeeded", "failed"]


def _values(description: str) -> fields.Field:
    return fields.list_of(
        fields.text(minLength=1, maxLength=rules.MAX_VALUE_LENGTH),
        description,
        optional=True,
        maxItems=rules.MAX_VALUES,
    )


class AuditScopeBody(Body):
    """The scope of an audit. Empty lists do not restrict it."""

    environments = _values("only events of these environments")
    agent_ids = _values("only events of these agents")


class AuditBody(Body):
    """An audit. An absent or null field gets its default on creation and stays unchanged later."""

    name = fields.name(rules.MAX_NAME_LENGTH)
    # Null removes it, so null has to differ from absent.
    description = fields.text(
        "null removes it",
        required=False,
        null=True,
        maxLength=rules.MAX_DESCRIPTION_LENGTH,
        example="An example of a description",
    )
    enabled = fields.switch(True, "a disabled audit never runs")
    schedule_interval_secs = fields.count(
        rules.DEFAULT_INTERVAL_SECS,
        rules.MIN_INTERVAL_SECS,
        rules.MAX_INTERVAL_SECS,
        "seconds from run to run",
    )
    schedule_anchor = fields.moment(
        "runs begin here and at every interval after it; the next 09:00 UTC for"
        f" a new audit, at most {rules.MAX_ANCHOR_AHEAD.days} days ahead",
        optional=True,
    )
    window_mode = fields.text(
        "`since_last`: the events since the last run that succeeded;"
        " `fixed`: those of the last `lookback_window_secs`",
        optional=True,
        enum=rules.WINDOW_MODES,
        default=rules.WINDOW_MODES[0],
    )
    lookback_window_secs = fields.count(
        rules.DEFAULT_LOOKBACK_SECS,
        rules.MIN_LOOKBACK_SECS,
        rules.MAX_LOOKBACK_SECS,
        "length of a `fixed` window, and of the first window of `since_last`",
    )
    scope = fields.nested(AuditScopeBody, optional=True)
    signals = fields.list_of(
        fields.text(enum=NAMES), "signals to look for; empty: all of them", optional=True
    )
    ignore_error_types = _values("errors of these types are not counted as errors")
    sensitivity = fields.text(optional=True, enum=rules.SENSITIVITIES, default="medium")
    top_k = fields.count(
        rules.DEFAULT_TOP_K,
        1,
        rules.MAX_TOP_K,
        "number of findings that a run files, most urgent first",
    )
    llm_enabled = fields.switch(
        True, "have a report written, where the deployment has a language model"
    )
    channels = fields.list_of(
        fields.shaped(shape=CHANNEL),
        "channels that announce incidents of critical findings, as for alerts",
        optional=True,
        example=[{"kind": "dashboard"}],
    )


class AuditScope(Schema):
    """The scope of an audit. Empty lists do not restrict it."""

    environments = fields.texts()
    agent_ids = fields.texts()


class AuditRow(Schema):
    """An audit, the result of its last run, and the time of its next one."""

    id = fields.uuid()
    name = fields.text()
    description = fields.text(null=True)
    enabled = fields.flag()
    schedule_interval_secs = fields.integer()
    schedule_anchor = fields.moment()
    window_mode = fields.text(enum=rules.WINDOW_MODES)
    lookback_window_secs = fields.integer()
    scope = fields.nested(AuditScope)
    signals = fields.texts()
    ignore_error_types = fields.texts()
    sensitivity = fields.text(enum=rules.SENSITIVITIES)
    top_k = fields.integer()
    llm_enabled = fields.flag()
    channels = fields.list_of(fields.shaped(shape=CHANNEL))
    created_by = fields.author()
    created_at = fields.moment()
    updated_at = fields.moment()
    open_findings = fields.integer("findings that are open or recurring")
    last_run_status = fields.text(null=True, enum=_ENDED)
    last_run_finished_at = fields.moment("null while it runs", null=True)
    last_attempted_at = fields.moment("start of the last run", null=True)
    next_attempt_at = fields.moment(
        "due time of the next run, null while the audit is disabled", null=True
    )
    last_error = fields.text(
        "reason why the last run failed, or did not start when it was due", null=True
    )
    additional_context = fields.text("the text of its context")
    reference_url_count = fields.integer("number of URLs in its context")


class QueuedAuditRun(Schema):
    """A run that starts as soon as a worker is free."""

    queued = fields.flag()
    run_id = fields.uuid()


class AuditRunQuery(Schema):
    """The filters of a list of runs."""

    limit = Limit(default=DEFAULT_PAGE, cap=MAX_PAGE)
    offset = Offset()


class AuditRunRow(Schema):
    """One run that has started."""

    id = fields.uuid()
    audit_id = fields.uuid()
    status = fields.text(enum=_ENDED)
    trigger_kind = fields.text(enum=["scheduled", "manual"])
    window_from = fields.moment("events at or after this time")
    window_to = fields.moment("events before this time")
    started_at = fields.moment()
    finished_at = fields.moment(null=True)
    stats = fields.mapping(
        "once the findings are filed: `total_sessions` and `events` of the"
        " window, `signals` (the `candidates` and `elapsed_ms` of each), `failed_signals` (the"
        " reason for each) and, if a requested report is missing, `report_error`"
    )
    findings_count = fields.integer("findings of the run")
    new_findings_count = fields.integer("findings that no earlier run had")
    report = fields.text("a report of the findings, in Markdown", null=True)
    error = fields.text(null=True)


_CONTEXT_TEXT: fields.Details = {
    "maxLength": rules.MAX_CONTEXT_LENGTH,
    "description": "background about the agents for the writer of the report",
}
_URL = fields.text(format="uri", maxLength=rules.MAX_URL_LENGTH)
_URLS: fields.Details = {
    "maxItems": rules.MAX_URLS,
    "description": "https only; passed to the writer of the report as text, never fetched",
}


class AuditContextBody(Body):
    """The context as a whole. Absent and null fields become empty."""

    text = fields.text(optional=True, **_CONTEXT_TEXT, example="An example of a text")
    urls = fields.list_of(_URL, optional=True, **_URLS)


class AuditContext(Schema):
    """The background that people wrote about their agents."""

    text = fields.text(**_CONTEXT_TEXT)
    urls = fields.list_of(_URL, **_URLS)
