"""Request and response schemas of the routes of findings."""

from typing import Any, get_args

from marshmallow import Schema, fields, post_load, validate

from shared.audits.findings.rules import Status
from shared.audits.findings.triage import MAX_REASON_LENGTH, Action
from shared.audits.signals import NAMES
from shared.audits.signals.interface import Kind, Magnitude, Severity
from web.params import Body, Limit, Offset, Timestamp, values

STATUSES = get_args(Status)
ACTIONS = get_args(Action)
# Other words that clients send for an action.
_ALIASES: dict[str, Action] = {"acknowledge": "ack"}


def _names() -> fields.List[str]:
    return fields.List(fields.String(), required=True)


class FindingQuery(Schema):
    """The filters of a list of findings."""

    status = values(
        f"status of a finding: {', '.join(STATUSES)}; the default is open,recurring",
        STATUSES,
    )
    audit_id = fields.UUID(load_default=None, metadata={"description": "findings of this audit"})
    run_id = fields.UUID(load_default=None, metadata={"description": "findings of this run"})
    limit = Limit(default=100, cap=500)
    offset = Offset()


class FindingActionBody(Body):
    """An action on a finding."""

    action = fields.String(
        required=True,
        validate=validate.OneOf((*ACTIONS, *_ALIASES)),
        metadata={"description": "`acknowledge` means `ack`, and answers say `ack`"},
    )
    reason = fields.String(
        load_default=None,
        allow_none=True,
        metadata={"maxLength": MAX_REASON_LENGTH, "description": "why"},
    )
    assigned_to = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "format": "email",
            "description": "the address of an active member; required by `assign`, ignored by other"
            " actions",
        },
    )

    @post_load
    def _without_aliases(self, body: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
        return {**body, "action": _ALIASES.get(body["action"], body["action"])}


class FindingEvidence(Schema):
    """The evidence of a finding, from its newest run."""

    session_ids = fields.List(
        fields.String(), required=True, metadata={"description": "newest first, at most 20"}
    )
    event_ids = fields.List(
        fields.Integer(), required=True, metadata={"description": "newest first, at most 20"}
    )
    numbers = fields.Dict(
        keys=fields.String(),
        values=fields.Raw(metadata={"type": "number"}),
        required=True,
        metadata={"description": "the first row of the first of `evidence_queries`, by column"},
    )


class FindingQueryRow(Schema):
    """A statement for POST /queries/run."""

    title = fields.String(required=True)
    sql = fields.String(required=True)


class FindingScope(Schema):
    """The subject of a finding and the scope of its audit. An empty list is no limit."""

    environments = _names()
    agent_ids = _names()
    event_types = _names()
    tool_names = _names()
    hook_names = _names()
    models = _names()
    error_types = _names()


class FindingRow(Schema):
    """A pattern that an audit found in `occurrences` of its runs."""

    id = fields.UUID(required=True)
    audit_id = fields.UUID(required=True)
    audit_name = fields.String(required=True)
    fingerprint = fields.String(
        required=True, metadata={"description": "the same for the same pattern in every audit"}
    )
    signal = fields.String(
        required=True,
        validate=validate.OneOf(NAMES),
        metadata={"description": "the signal that found it, as an audit's `signals` names it"},
    )
    title = fields.String(required=True)
    category = fields.String(required=True)
    failure_type = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(get_args(Kind)))
    severity = fields.String(required=True, validate=validate.OneOf(get_args(Severity)))
    magnitude = fields.String(required=True, validate=validate.OneOf(get_args(Magnitude)))
    priority = fields.Float(
        required=True,
        metadata={
            "minimum": 0,
            "maximum": 1,
            "description": "0.30 coverage + 0.25 severity + 0.25 magnitude + 0.20 recency",
        },
    )
    status = fields.String(
        required=True,
        validate=validate.OneOf(STATUSES),
        metadata={"description": "recurring: more than one run found it"},
    )
    occurrences = fields.Integer(required=True, metadata={"description": "runs that found it"})
    first_seen_at = Timestamp(required=True)
    last_seen_at = Timestamp(required=True)
    description = fields.String(required=True)
    root_cause_hypothesis = fields.String(required=True, allow_none=True)
    recommendation = fields.String(required=True, allow_none=True)
    expected_impact = fields.String(required=True, allow_none=True)
    effort = fields.String(required=True, allow_none=True)
    evidence = fields.Nested(FindingEvidence, required=True)
    evidence_queries = fields.List(fields.Nested(FindingQueryRow), required=True)
    scope = fields.Nested(FindingScope, required=True)
    assigned_to = fields.String(required=True, allow_none=True)
    issue_id = fields.String(
        required=True, allow_none=True, metadata={"description": "null: no tracker is connected"}
    )


class FindingActionDone(Schema):
    """The action and the new state of the finding."""

    id = fields.UUID(required=True)
    action = fields.String(required=True, validate=validate.OneOf(ACTIONS))
    ok = fields.Boolean(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
