"""The OpenAPI document has exactly the routes, permissions and fields that clients rely on."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.document import Document

# Method and path → permission. None: any key; "": no credential.
PERMISSIONS: dict[str, Any] = {
    "POST /events": "events:add",
    "GET /events": "events:read",
    "GET /events/summary": "events:read",
    "GET /events/latency_aggregate": "events:read",
    "GET /events/latency_calls": "events:read",
    "GET /events/error_summary": "events:read",
    "GET /events/environments": ["events:read", "evaluations:read"],
    "GET /events/models": ["events:read", "evaluations:read"],
    "GET /events/agent_ids": ["events:read", "evaluations:read"],
    "GET /events/event_types": "events:read",
    "GET /events/tool_names": "events:read",
    "GET /events/hook_names": "events:read",
    "GET /events/error_types": "events:read",
    "GET /events/trigger_events": "events:read",
    "GET /sessions": "evaluations:read",
    "GET /sessions/totals": "evaluations:read",
    "GET /sessions/{session_id}": "evaluations:read",
    "GET /sessions/{session_id}/events/{event_id}": "events:read",
    "GET /sessions/{session_id}/outline": "events:read",
    "GET /sessions/{session_id}/export": "events:read",
    "GET /exports/events": "events:read",
    "GET /exports/sessions": "evaluations:read",
    "GET /exports/evaluations": "evaluations:read",
    "GET /exports/files": "settings:read",
    "GET /deletions": "events:delete",
    "POST /deletions": "events:delete",
    "POST /deletions/preview": "events:delete",
    "GET /deletions/{deletion_id}": "events:delete",
    "POST /sessions/{session_id}/re-evaluate": "evaluations:trigger",
    "POST /evaluations/re-evaluate": "evaluations:trigger",
    "GET /evaluations": "evaluations:read",
    "GET /evaluations/aggregate": "evaluations:read",
    "GET /evaluations/environments": "evaluations:read",
    "GET /evaluations/score_keys": "evaluations:read",
    "GET /evaluations/metric_keys": "evaluations:read",
    "GET /evaluation-jobs": "evaluations:read",
    "GET /queries": "queries:read",
    "POST /queries": "queries:write",
    "POST /queries/run": "queries:run",
    "GET /queries/schema": "queries:read",
    "GET /queries/{query_id}": "queries:read",
    "PUT /queries/{query_id}": "queries:write",
    "DELETE /queries/{query_id}": "queries:delete",
    "GET /dashboards": "dashboards:read",
    "POST /dashboards": "dashboards:write",
    "GET /dashboards/{dashboard_id}": "dashboards:read",
    "PUT /dashboards/{dashboard_id}": "dashboards:write",
    "DELETE /dashboards/{dashboard_id}": "dashboards:delete",
    "GET /dashboards/{dashboard_id}/tiles": "dashboards:read",
    "POST /dashboards/{dashboard_id}/tiles": "dashboards:write",
    "PUT /dashboards/{dashboard_id}/tiles/layout": "dashboards:write",
    "POST /dashboards/{dashboard_id}/tiles/{tile_id}/run": "dashboards:read",
    "PUT /dashboards/{dashboard_id}/tiles/{tile_id}": "dashboards:write",
    "DELETE /dashboards/{dashboard_id}/tiles/{tile_id}": "dashboards:write",
    "GET /alerts": "alerts:read",
    "POST /alerts": "alerts:write",
    "GET /alerts/recipients": ["alerts:read", "alerts:write"],
    "POST /alerts/preview": "alerts:write",
    "GET /alerts/{alert_id}": "alerts:read",
    "PUT /alerts/{alert_id}": "alerts:write",
    "DELETE /alerts/{alert_id}": "alerts:write",
    "POST /alerts/{alert_id}/test": "alerts:write",
    "GET /alerts/incidents": "incidents:read",
    "POST /alerts/incidents": "incidents:write",
    "GET /alerts/incidents/count": "incidents:read",
    "GET /alerts/{alert_id}/incidents": "incidents:read",
    "POST /alerts/{alert_id}/incidents": "incidents:write",
    "GET /alerts/incidents/{incident_id}": "incidents:read",
    "GET /alerts/incidents/{incident_id}/values": "incidents:read",
    "POST /alerts/incidents/{incident_id}/ack": "incidents:ack",
    "POST /alerts/incidents/{incident_id}/assign": "incidents:ack",
    "POST /alerts/incidents/{incident_id}/resolve": "incidents:ack",
    "POST /alerts/incidents/{incident_id}/send-again": "incidents:ack",
    "GET /alerts/incidents/{incident_id}/comments": "incidents:read",
    "POST /alerts/incidents/{incident_id}/comments": "incidents:ack",
    "DELETE /alerts/incidents/{incident_id}/comments/{comment_id}": [
        "incidents:ack",
        "incidents:write",
    ],
    "GET /alerts/incidents/{incident_id}/subscribers": "incidents:read",
    "POST /alerts/incidents/{incident_id}/subscribe": "incidents:ack",
    "POST /alerts/incidents/{incident_id}/unsubscribe": "incidents:ack",
    "GET /audits": "audits:read",
    "POST /audits": "audits:write",
    "GET /audits/{audit_id}": "audits:read",
    "PUT /audits/{audit_id}": "audits:write",
    "DELETE /audits/{audit_id}": "audits:write",
    "POST /audits/{audit_id}/run": "audits:write",
    "GET /audits/{audit_id}/runs": "audits:read",
    "GET /audits/{audit_id}/context": "audits:read",
    "PUT /audits/{audit_id}/context": "audits:write",
    "GET /audits/findings": "audits:read",
    "GET /audits/findings/{fid}": "audits:read",
    "POST /audits/findings/{fid}/status": "audits:write",
    "GET /agent/conversations": "agent:use",
    "POST /agent/conversations": "agent:use",
    "GET /agent/conversations/{conversation_id}": "agent:use",
    "PATCH /agent/conversations/{conversation_id}": "agent:use",
    "DELETE /agent/conversations/{conversation_id}": "agent:use",
    "PUT /agent/conversations/{conversation_id}/messages": "agent:use",
    "POST /keys": "keys:create",
    "GET /keys": "keys:read",
    "PATCH /keys/{key_id}": "keys:update",
    "POST /keys/{key_id}/disable": "keys:disable",
    "POST /keys/{key_id}/regenerate": "keys:regenerate",
    "POST /users": "users:create",
    "GET /users/defaults": "users:create",
    "GET /users": "users:read",
    "GET /users/{user_id}": "users:read",
    "PUT /users/{user_id}": "users:update",
    "DELETE /users/{user_id}": "users:delete",
    "POST /users/{user_id}/enable": "users:delete",
    "GET /access-granters": None,
    "GET /permission-sets": "users:read",
    "GET /permission-sets/{name}": "users:read",
    "POST /permission-sets": "settings:write",
    "PUT /permission-sets/{name}": "settings:write",
    "DELETE /permission-sets/{name}": "settings:write",
    "GET /settings": "settings:read",
    "GET /settings/schema": "settings:read",
    "PUT /settings/{key}": "settings:write",
    "GET /settings/model-context-windows": "settings:read",
    "GET /settings/model-context-windows/resolve": "settings:read",
    "PUT /settings/model-context-windows": "settings:write",
    "DELETE /settings/model-context-windows": "settings:write",
    "GET /audit-log": "settings:read",
    "GET /audit-log/export": "settings:read",
    "GET /usage": "settings:read",
    "GET /usage/windows": "settings:read",
    "GET /auth/introspect": None,
    "POST /auth/otp/request": "",
    "POST /auth/otp/verify": "",
    "GET /auth/session": "",
    "POST /auth/logout": "",
    "GET /auth/sessions": "",
    "DELETE /auth/sessions": "",
    "DELETE /auth/sessions/{session_id}": "",
    "GET /health": "",
    "GET /ready": "",
    "GET /openapi.json": "",
}

_INCIDENT = (
    "id title source source_finding_id? alert_id? alert_name? alert_severity trigger_kind? state"
    " opened_at last_breach_at acknowledged_at? acknowledged_by? assignees resolved_at?"
    " resolved_by? breach_value? breach_summary? evidence?"
)
_EXPORTED_SESSION = (
    "session_id agent_id agents environment event_count error_count started_at last_event_at"
    " ended_at? first_event_id last_event_id input_tokens output_tokens"
)
_SESSION = f"{_EXPORTED_SESSION} latest_evaluation? outcome? failed"
_DELETION = (
    "id state field? value_hash? sessions removed remaining created_by created_at hidden_at?"
    " rewritten_at? finished_at? error?"
)
# The fields of each row. `?` marks a field that may be null, `*` one that only some requests get.
ROWS = {
    "Accepted": "accepted skipped errors warnings*",
    "EventWarning": "index field warning did_you_mean?",
    "AcceptedError": "line error",
    "Event": "id session_id agent_id event_type ts environment payload is_error error_type?"
    " output_tokens? context_window? context_fill?",
    "EventSummary": "id session_id agent_id event_type ts environment summary is_error error_type?"
    " output_tokens? context_window? context_fill?",
    "EventPage": "events next_cursor?",
    "EventSummaryPage": "events next_cursor?",
    "LatencyAggregate": "bounds bins heatmap summary events sums distribution",
    "LatencyBounds": "from to bin_ms",
    "LatencyBin": "ts count error_count p10? p25? p50? p75? p90? p95? p99? max?",
    "LatencyHeatmap": "edges_ms counts",
    "LatencyFigures": "count error_count p50? p95? p99? max?",
    "LatencyEvents": "start end unpaired_start",
    "LatencyCall": "ts session_id event_id key latency_ms is_error",
    "LatencyCalls": "total calls",
    "LatencyOfKey": "key count error_count p50? p95? p99? max?",
    "ErrorSummary": "total sessions agents last_ts? bins bounds groups*",
    "ErrorGroup": "key? total sessions last_ts",
    "ErrorSummaryBounds": "from_ms to_ms",
    "Session": _SESSION,
    "SessionDetail": f"{_SESSION} evaluation_state",
    "EvaluationState": "code sentence job? since?",
    "SessionAgent": "agent_id event_count",
    "SessionPage": "sessions next_cursor?",
    "SessionTotals": "sessions event_count error_count input_tokens output_tokens score? timeline",
    "SessionScore": "key count avg?",
    "SessionTimeline": "bucket_unit bucket_secs points",
    "SessionPoint": "ts sessions error_count tokens score_avg?",
    "Outline": "session_id total offset base_ts agents types names columns prev_cursor?"
    " next_cursor? watermark",
    "OutlineAgent": "agent_id parent? event_count",
    "ExportedEvent": "id ts event_type payload",
    "EventLine": "id session_id agent_id event_type ts environment payload summary is_error"
    " error_type? tool_name? tool_call_id? hook_name? hook_id? trigger_event? input_id? pause_id?"
    " request_id? model? parent_id? outcome? duration_ms? input_tokens? output_tokens?"
    " context_window? context_fill?",
    "SessionLine": _EXPORTED_SESSION,
    "EvaluationLine": "evaluation_id session_id agent_id environment status scores? reasoning?"
    " summary? error? attempt_count duration_ms? completed_at",
    "ExportFileList": "schedule? files",
    "ExportScheduleRow": "every since looked_at? error?",
    "ExportFileRow": "name rows every starts_at ends_at row_count bytes writes written_at",
    "DeletionPreview": "sessions removed remaining",
    "DeletionCounts": "clickhouse postgres redis",
    "DeletionRow": _DELETION,
    "DeletionDetail": f"{_DELETION} dropped_events proofs not_reached",
    "DeletionProof": "title sql",
    "DeletionList": "deletions",
    "EvalRequest": "schema_version session_id agent_id environment started_at ended_at? events",
    "Queued": "session_id status job_id",
    "Evaluation": "evaluation_id id session_id agent_id environment status scores? reasoning?"
    " summary? error? attempt_count duration_ms? completed_at created_at",
    "EvaluationPage": "evaluations next_cursor?",
    "EvaluationAggregate": "total status_counts score_stats timeline series series_truncated"
    " histograms*",
    "ScoreHistogram": "key min max counts",
    "StatusCounts": "done error timeout",
    "ScoreStats": "key count avg min max p50",
    "Timeline": "bucket_unit bucket_secs points",
    "TimelinePoint": "ts total done error timeout scores",
    "ScoreSeries": "agent_id environment key agg points",
    "SeriesPoint": "ts value?",
    "MetricKey": "name unit count",
    "EvaluationJob": "id session_id agent_id environment status trigger attempt_count"
    " evaluator_job_id? enqueued_at next_attempt_at poll_deadline_at? last_error?",
    "JobList": "jobs health*",
    "EvaluatorHealth": "state since? failures last_error? retry_at?",
    "Requested": "sessions queued dry_run",
    "QueryRow": "id name description sql_text params created_by? created_at updated_at",
    "QueryList": "queries",
    "DeletedQuery": "ok",
    "QueryResult": "columns rows truncated elapsed_ms",
    "ResultColumn": "name type",
    "PublishedTables": "schema tables",
    "SchemaTable": "name columns",
    "SchemaColumn": "name type",
    "DashboardRow": "id name description definition tile_count created_by? created_at updated_at",
    "DashboardDetail": "id name description definition tile_count created_by? created_at updated_at"
    " tiles",
    "DashboardList": "dashboards",
    "TileRow": "id dashboard_id query_id title chart_type chart_config param_bindings pos_x pos_y"
    " pos_w pos_h created_at updated_at",
    "TileList": "tiles",
    "LaidOut": "updated",
    "DeletedDashboard": "ok",
    "AlertRow": "id name description? enabled trigger_kind trigger_spec severity min_breaches"
    " eval_window eval_interval_secs channels created_by created_at updated_at last_attempted_at?"
    " last_error? open_incidents",
    "AlertPreview": "bounds op? bound? points incidents replayed reason?",
    "PreviewBounds": "from to step_secs",
    "PreviewPoint": "ts value? breach?",
    "PreviewIncident": "opened_at resolved_at? breaches",
    "Recipient": "email",
    "DeliveryTest": "ok synthetic_incident_id deliveries",
    "TestedDelivery": "channel target status error?",
    "IncidentRow": _INCIDENT,
    "IncidentDetail": f"{_INCIDENT} alert_description? notifications subscribers comments activity",
    "IncidentCount": "count",
    "OpenedRow": "id newly_opened state source",
    "IncidentNotification": "id channel target event status attempts error? created_at",
    "SubscriberRow": "email source subscribed_at unsubscribed_at?",
    "CommentRow": "id incident_id author_email body? created_at edited_at? deleted_at?",
    "ActivityRow": "kind actor at detail",
    "SubscriptionRow": "email subscribed",
    "AuditRow": "id name description? enabled schedule_interval_secs schedule_anchor window_mode"
    " lookback_window_secs scope signals ignore_error_types sensitivity top_k llm_enabled channels"
    " created_by created_at updated_at open_findings last_run_status? last_run_finished_at?"
    " last_attempted_at? next_attempt_at? last_error? additional_context reference_url_count",
    "AuditScope": "environments agent_ids",
    "AuditRunRow": "id audit_id status trigger_kind window_from window_to started_at finished_at?"
    " stats findings_count new_findings_count report? error?",
    "QueuedAuditRun": "queued run_id",
    "AuditContext": "text urls",
    "FindingRow": "id audit_id audit_name fingerprint signal title category failure_type kind"
    " severity magnitude priority status occurrences first_seen_at last_seen_at description"
    " root_cause_hypothesis? recommendation? expected_impact? effort? evidence evidence_queries"
    " scope assigned_to? issue_id?",
    "FindingEvidence": "session_ids event_ids numbers",
    "FindingQueryRow": "title sql",
    "FindingScope": "environments agent_ids event_types tool_names hook_names models error_types",
    "FindingActionDone": "id action ok status",
    "ConversationRow": "id title created_at updated_at message_count",
    "ConversationList": "conversations next_cursor?",
    "ConversationDetail": "id title created_at updated_at messages",
    "KeyRow": "id name permissions created_at revoked_at? expires_at? last_used_at? is_protected",
    "RegeneratedKey": "id name permissions created_at key",
    "UserRow": "id email permissions permission_set? permission_added permission_removed"
    " disabled_at? is_protected created_at updated_at",
    "UserDefaults": "permission_set permissions",
    "AccessGranter": "email",
    "SetRow": "name description permissions is_builtin user_count",
    "DeletedSet": "affected_users",
    "SettingRow": "key value value_set updated_at? updated_by? note? scope schema",
    "SettingEntry": "key kind title description default min? max? unit? options?",
    "SettingList": "settings",
    "SettingEntryList": "settings",
    "WindowRow": "model_id context_window updated_at",
    "WindowList": "model_context_windows",
    "ResolvedWindow": "model_id context_window? source",
    "AuditLogPage": "lines next_cursor?",
    "AuditLogLine": "id at actor_kind actor_id? actor key_name? way address? request_id? noun"
    " action target_id? target? before? after?",
    "Usage": "org_id billing_anchor window usage calculated_at stale_after limits?",
    "LimitsToday": "enforced key_requests_per_sec key_events_per_sec org_events_per_day day events"
    " refused_requests refused_events refused_by",
    "RefusedBy": "key_requests key_events org_events",
    "BillingWindow": "start end",
    "UsageCounters": "events_ingested sessions agents environments evaluations evaluation_runs"
    " audit_runs incidents_opened alerts_created queries_created dashboards_created"
    " assistant_turns assistant_tokens users_active"
    " keys_active",
    "UsageWindows": "windows",
    "UsageOfWindow": "from to events_ingested evaluations",
    "Introspection": "id name org_id? org_slug? instance_scoped permissions expires_at?",
    "CodeRequested": "sent",
    "SignedIn": "user expires_in_secs",
    "SignedInUser": "id email",
    "SignInSession": "id email is_instance_admin memberships",
    "SessionMembership": "org_id org_slug org_name permissions permission_set? is_pending"
    " feature_flags",
    "SignedOut": "ok",
    "Health": "status",
    "Ready": "status checks",
}

_EVENTS = (
    "session_id agent_id event_type environment error_type trigger_event tool_name hook_name model"
    " event_id errored search search_exclude ts_from ts_to order cursor limit as"
)
_OUTLINE = (
    "agent_id event_type environment error_type trigger_event tool_name hook_name model event_id"
    " errored search search_exclude ts_from ts_to columns limit cursor around since as"
)
_RESULTS = "session_id agent_id environment status score_filters ts_from ts_to cursor limit as"
# Path → its query parameters, and the default and the cap of `limit`.
LISTS = {
    "/v1/events": (_EVENTS, 50, 1000),
    "/v1/events/summary": (_EVENTS, 50, 1000),
    "/v1/sessions/{session_id}/outline": (_OUTLINE, 20000, 50000),
    "/v1/sessions": (f"{_RESULTS} sort order", 50, 200),
    "/v1/evaluations": (f"{_RESULTS} latest_per_session time lowest", 50, 200),
    "/v1/evaluation-jobs": ("status session_id health limit", 100, 500),
    "/v1/exports/files": ("limit offset", 50, 200),
    "/v1/deletions": ("limit offset", 50, 200),
    "/v1/agent/conversations": ("cursor limit", 200, 1000),
    "/v1/audits/{audit_id}/runs": ("limit offset", 50, 200),
    "/v1/audits/findings": ("status audit_id run_id limit offset", 100, 500),
    "/v1/audit-log": ("ts_from ts_to noun action actor way target_id cursor limit", 50, 200),
    "/v1/alerts/incidents": ("state alert_id resolved_since limit", 200, 1000),
    "/v1/alerts/{alert_id}/incidents": ("state limit", 200, 1000),
}


def test_every_route_names_its_permission(document: Document) -> None:
    found = {
        f"{method} {path.removeprefix('/v1')}": ""
        if operation["security"] == []
        else operation.get("x-required-permission")
        for method, path, operation in document.operations()
    }
    assert {route: found.get(route, "missing") for route in PERMISSIONS} == PERMISSIONS


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_these_fields_and_these_may_be_null(document: Document, name: str) -> None:
    schema = document.body["components"]["schemas"][name]
    required = set(schema["required"])
    spelled = {
        field + ("?" if _may_be_null(below) else "") + ("" if field in required else "*")
        for field, below in schema["properties"].items()
    }
    assert spelled == set(ROWS[name].split())
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("path", LISTS)
def test_a_list_takes_these_parameters(document: Document, path: str) -> None:
    names, default, cap = LISTS[path]
    found = {
        parameter["name"]: parameter
        for parameter in document.operation("GET", path)["parameters"]
        if parameter["in"] == "query"
    }
    assert found.keys() == set(names.split())
    limit = found["limit"]["schema"]
    assert (limit["minimum"], limit["default"]) == (1, default)
    # A larger value is accepted and clamped. A bound would make strict clients refuse it.
    assert "maximum" not in limit
    assert f"a larger number than {cap} counts as {cap}" in found["limit"]["description"]


def test_every_operation_names_the_headers_that_it_reads(document: Document) -> None:
    for method, path, operation in document.operations():
        headers = {
            parameter["name"]
            for parameter in operation["parameters"]
            if parameter["in"] == "header"
        }
        expected = {"X-Request-Id"}
        if operation["security"]:
            expected.add("X-Service-Org")
        if (method, path) == ("POST", "/v1/events"):
            expected.add("Content-Encoding")
        assert expected <= headers, f"{method} {path}"


def test_every_operation_names_the_errors_that_it_can_end_in(document: Document) -> None:
    for method, path, operation in document.operations():
        expected = {"default"}
        if operation["security"]:
            # An unavailable store and an unknown X-Service-Org can happen with every credential.
            expected |= {"401", "403", "404", "503"}
        if "requestBody" in operation:
            expected |= {"400", "413", "415", "422"}
        if any(parameter["in"] == "query" for parameter in operation["parameters"]):
            expected.add("422")
        assert expected <= operation["responses"].keys(), f"{method} {path}"


def test_responses_are_schemas_and_not_free_json(document: Document) -> None:
    for method, path, operation in document.operations():
        if path == "/v1/openapi.json":
            continue
        for status, told in operation["responses"].items():
            if status == "204" or (path, status) == ("/v1/mcp", "202"):
                continue
            schemas = [one["schema"] for one in document.resolve(told)["content"].values()]
            for given in (one for schema in schemas for one in schema.get("oneOf", [schema])):
                schema = document.resolve(given)
                where = f"{method} {path} {status}"
                assert schema["type"] in ("object", "array"), where
                assert schema.get("properties") or schema["items"], where


def test_no_schema_names_a_type_or_a_value_twice(document: Document) -> None:
    """JSON Schema forbids it, and fuzzers stop at it."""
    lists = [
        below[word]
        for below in _objects(document.body)
        for word in ("type", "enum", "required")
        if isinstance(below.get(word), list)
    ]
    assert ["boolean", "string", "integer", "array", "null"] in lists
    assert [found for found in lists if len(found) != len(set(found))] == []


def test_the_bodies_that_a_client_sends_are_described(document: Document) -> None:
    body = document.operation("POST", "/v1/keys")["requestBody"]["content"]["application/json"]
    schema = document.resolve(body["schema"])
    fields = {"name", "key", "permissions", "permission_set", "expires_at"}
    assert schema["properties"].keys() == fields
    assert set(schema["required"]) == {"name", "key"}
    bounds = {
        name: (schema["properties"][name]["minLength"], schema["properties"][name]["maxLength"])
        for name in ("name", "key")
    }
    assert bounds == {"name": (1, 100), "key": (16, 256)}
    assert schema["properties"]["permissions"]["default"] == ["events:add"]
    content = document.operation("POST", "/v1/events")["requestBody"]["content"]
    assert content.keys() == {"application/x-ndjson", "application/json"}
    array, wrapped = content["application/json"]["schema"]["oneOf"]
    assert array["items"]["required"] == ["session_id", "timestamp", "type"]
    assert wrapped["properties"]["events"] == array


def _objects(part: Any) -> Iterator[dict[str, Any]]:
    """Yields every JSON object inside a part of the document, and the part itself."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    for below in part if isinstance(part, list) else ():
        yield from _objects(below)


def _may_be_null(schema: dict[str, Any]) -> bool:
    return "null" in schema.get("type", []) or {"type": "null"} in schema.get("anyOf", [])
