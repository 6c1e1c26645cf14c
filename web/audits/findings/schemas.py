"""Request and response schemas of the routes of findings."""

from typing import Any, get_args

from marshmallow import Schema, post_load, validate

from shared.watch.audits.findings.rules import Status
from shared.watch.audits.findings.triage import MAX_REASON_LENGTH, Action
from shared.watch.audits.signals import NAMES
from shared.watch.audits.signals.interface import Kind, Magnitude, Severity
from web import fields
from web.params import Body, Limit, Offset, values

STATUSES = get_args(Status)
ACTIONS = get_args(Action)
# Other words that clients send for an action.
_ALIASES: dict[str, Action] = {"acknowledge": "ack"}


class FindingQuery(Schema):
    """The filters of a list of findings."""

    status = values(
        f"status of a finding: {', '.join(STATUSES)}; the default is open,recurring",
        STATUSES,
    )
    audit_id = fields.uuid("findings of this audit", optional=True)
    run_id = fields.uuid("findings of this run", optional=True)
    limit = Limit(default=100, cap=500)
    offset = Offset()


class FindingActionBody(Body):
    """An action on a finding."""

    action = fields.text(
        "`acknowledge` means `ack`, and answers say `ack`",
        validate=validate.OneOf((*ACTIONS, *_ALIASES)),
    )
    reason = fields.text("why", optional=True, maxLength=MAX_REASON_LENGTH)
    assigned_to = fields.text(
        "the address of an active member; required by `assign`, ignored by other actions",
        optional=True,
        format="email",
    )

    @post_load
    def _without_aliases(self, body: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
        return {**body, "action": _ALIASES.get(body["action"], body["action"])}


class FindingEvidence(Schema):
    """The evidence of a finding, from its newest run."""

    session_ids = fields.texts("newest first, at most 20")
    event_ids = fields.list_of(fields.integer(), "newest first, at most 20")
    numbers = fields.mapping(
        "the first row of the first of `evidence_queries`, by column",
        keys=fields.text(),
        values=fields.raw(type="number"),
    )


class FindingQueryRow(Schema):
    """A statement for POST /queries/run."""

    title = fields.text()
    sql = fields.text()


class FindingScope(Schema):
    """The subject of a finding and the scope of its audit. An empty list is no limit."""

    environments = fields.texts()
    agent_ids = fields.texts()
    event_types = fields.texts()
    tool_names = fields.texts()
    hook_names = fields.texts()
    models = fields.texts()
    error_types = fields.texts()


class FindingRow(Schema):
    """A pattern that an audit found in `occurrences` of its runs."""

    id = fields.uuid()
    audit_id = fields.uuid()
    audit_name = fields.text()
    fingerprint = fields.text("the same for the same pattern in every audit")
    signal = fields.text("the signal that found it, as an audit's `signals` names it", enum=NAMES)
    title = fields.text()
    category = fields.text()
    failure_type = fields.text()
    kind = fields.text(enum=get_args(Kind))
    severity = fields.text(enum=get_args(Severity))
    magnitude = fields.text(enum=get_args(Magnitude))
    priority = fields.number(
        "0.30 coverage + 0.25 severity + 0.25 magnitude + 0.20 recency", minimum=0, maximum=1
    )
    status = fields.text("recurring: more than one run found it", enum=STATUSES)
    occurrences = fields.integer("runs that found it")
    first_seen_at = fields.moment()
    last_seen_at = fields.moment()
    description = fields.text()
    root_cause_hypothesis = fields.text(null=True)
    recommendation = fields.text(null=True)
    expected_impact = fields.text(null=True)
    effort = fields.text(null=True)
    evidence = fields.nested(FindingEvidence)
    evidence_queries = fields.rows(FindingQueryRow)
    scope = fields.nested(FindingScope)
    assigned_to = fields.text(null=True)
    issue_id = fields.text("null: no tracker is connected", null=True)


class FindingActionDone(Schema):
    """The action and the new state of the finding."""

    id = fields.uuid()
    action = fields.text(enum=ACTIONS)
    ok = fields.flag()
    status = fields.text(enum=STATUSES)
