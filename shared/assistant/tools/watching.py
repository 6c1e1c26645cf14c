"""Tools that read alerts, incidents and findings."""

from typing import Literal

from shared.assistant.asker import Asker
from shared.assistant.tools.tool import Arguments, Nothing, Rows, Text, Tool, ToolResult
from shared.assistant.values import ALONE, fields_of, plain
from shared.foundation.core import pages
from shared.watch.alerts import service as alerts
from shared.watch.audits.findings import service as findings
from shared.watch.audits.findings.rules import ACTIVE, Status
from shared.watch.budgets import listing as budgets
from shared.watch.incidents import activity, comments, listing
from shared.watch.incidents import rows as incidents

_ALERT = ("id", "name", "description", "enabled", "trigger_kind", "trigger_spec", "severity")
_ALERT_STATE = ("due_at", "last_attempted_at", "last_error")
_INCIDENT = (
    *("id", "title", "source", "alert_name", "alert_severity", "state", "opened_at"),
    *("last_breach_at", "acknowledged_by", "assignees", "resolved_at", "resolved_by"),
    *("breach_value", "breach_summary"),
)
_FINDING = (
    *("id", "title", "signal", "category", "kind", "severity", "priority", "status"),
    *("occurrences", "first_seen_at", "last_seen_at", "assigned_to"),
)
_WHOLE_FINDING = (
    *("description", "root_cause_hypothesis", "recommendation", "expected_impact"),
    *("evidence", "evidence_queries", "scope"),
)


class ListIncidents(Arguments):
    """A list of incidents."""

    state: tuple[Literal["firing", "acknowledged", "resolved"], ...] = ("firing", "acknowledged")
    limit: Rows = 20


class ReadIncident(Arguments):
    """One incident."""

    incident_id: Text


class ListFindings(Arguments):
    """A list of findings."""

    status: tuple[Status, ...] = ACTIVE
    limit: Rows = 20


class ReadFinding(Arguments):
    """One finding."""

    finding_id: Text


def _alerts(asker: Asker, _wanted: Nothing) -> ToolResult:
    with asker.runtime.postgres.transaction() as session:
        rows = [
            {
                **fields_of(alert, _ALERT),
                **fields_of(state, _ALERT_STATE),
                "link": pages.alert(asker.org_slug, alert.id),
            }
            for alert, state in alerts.list_(session, asker.org_id)
        ]
    return ToolResult({"alerts": rows}, len(rows))


def _budgets(asker: Asker, _wanted: Nothing) -> ToolResult:
    rows = [
        {**plain(one._asdict()), "link": pages.alert(asker.org_slug, one.alert_id)}
        for one in budgets.list_(asker.runtime, asker.org)
    ]
    return ToolResult({"budgets": rows}, len(rows))


def _incidents(asker: Asker, wanted: ListIncidents) -> ToolResult:
    chosen = listing.IncidentFilter(states=wanted.state)
    with asker.runtime.postgres.transaction() as session:
        rows = [
            {
                **fields_of(one, _INCIDENT),
                "link": pages.incident(asker.org_slug, one.id),
            }
            for one in listing.list_(session, asker.org_id, chosen, limit=wanted.limit)
        ]
    return ToolResult({"incidents": rows}, len(rows))


def _incident(asker: Asker, wanted: ReadIncident) -> ToolResult:
    with asker.runtime.postgres.transaction() as session:
        one = incidents.get(session, asker.org_id, wanted.incident_id)
        said = comments.list_(session, asker.org_id, one.id)
        done = activity.of_incident(session, asker.org_id, one.id)
        value = {
            **fields_of(one, (*_INCIDENT, "evidence"), ALONE),
            "comments": [
                fields_of(comment, ("author_email", "body", "created_at")) for comment in said
            ],
            "activity": [fields_of(step, ("kind", "actor", "at")) for step in done],
            "link": pages.incident(asker.org_slug, one.id),
        }
    return ToolResult(value)


def _findings(asker: Asker, wanted: ListFindings) -> ToolResult:
    chosen = findings.FindingFilter(statuses=wanted.status)
    with asker.runtime.postgres.transaction() as session:
        listed = findings.list_(session, asker.org_id, chosen, limit=wanted.limit, offset=0)
        rows = [
            {
                **fields_of(one.finding, _FINDING),
                "audit": one.audit_name,
                "link": pages.finding(asker.org_slug, one.finding.id),
            }
            for one in listed
        ]
    return ToolResult({"findings": rows}, len(rows))


def _finding(asker: Asker, wanted: ReadFinding) -> ToolResult:
    with asker.runtime.postgres.transaction() as session:
        one = findings.get(session, asker.org_id, wanted.finding_id)
        value = {
            **fields_of(one.finding, (*_FINDING, *_WHOLE_FINDING), ALONE),
            "audit": one.audit_name,
            "link": pages.finding(asker.org_slug, one.finding.id),
        }
    return ToolResult(value)


TOOLS = (
    Tool("list_alerts", "alerts:read", "Lists the rules of alerts.", Nothing, _alerts),
    Tool(
        "list_budgets",
        "alerts:read",
        "Lists what is spent of the budgets in their running periods, the highest share first.",
        Nothing,
        _budgets,
    ),
    Tool(
        "list_incidents",
        "incidents:read",
        "Lists incidents, newest first; by default the open ones.",
        ListIncidents,
        _incidents,
    ),
    Tool(
        "read_incident",
        "incidents:read",
        "Reads one incident with its evidence, comments and activity.",
        ReadIncident,
        _incident,
    ),
    Tool(
        "list_findings",
        "audits:read",
        "Lists findings of audits by priority; by default the active ones.",
        ListFindings,
        _findings,
    ),
    Tool(
        "read_finding",
        "audits:read",
        "Reads one finding: its numbers, evidence and the queries behind them.",
        ReadFinding,
        _finding,
    ),
)
