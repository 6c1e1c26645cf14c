// Made by `bin/ui` from the OpenAPI document. Do not edit.

export interface Accepted {
  accepted: number;
  skipped: number;
  errors: AcceptedError[];
  warnings: EventWarning[];
}

export interface AcceptedError {
  line: number;
  error: string;
}

export interface AccessGranter {
  email: string;
}

export interface ActivityRow {
  kind: "opened" | "acknowledged" | "assigned" | "commented" | "comment_deleted" | "subscribed" | "unsubscribed" | "breached" | "resolved";
  actor: string;
  at: string;
  detail: Record<string, unknown>;
}

export interface AlertBody {
  trigger_kind: "metric_threshold" | "custom_sql" | "evaluation_score" | "eval_compound" | "per_event";
  trigger_spec: Record<string, unknown>;
  min_breaches?: number | null;
  eval_window?: number | null;
  eval_interval_secs?: number | null;
  name: string;
  description?: string | null;
  enabled?: boolean | null;
  severity?: "info" | "warning" | "critical";
  channels?: Record<string, unknown>[] | null;
}

export interface AlertPreview {
  bounds: PreviewBounds;
  op: string | null;
  bound: number | null;
  points: PreviewPoint[];
  incidents: PreviewIncident[];
  replayed: boolean;
  reason: string | null;
}

export interface AlertRow {
  id: string;
  name: string;
  description: string | null;
  enabled: boolean;
  trigger_kind: "metric_threshold" | "custom_sql" | "evaluation_score" | "eval_compound" | "per_event";
  trigger_spec: Record<string, unknown>;
  severity: "info" | "warning" | "critical";
  min_breaches: number;
  eval_window: number;
  eval_interval_secs: number;
  channels: Record<string, unknown>[];
  created_by: string;
  created_at: string;
  updated_at: string;
  last_attempted_at: string | null;
  last_error: string | null;
  open_incidents: number;
}

export interface AssignBody {
  assignees?: string[];
  assigned_to?: string | null;
}

export interface AssistantHealth {
  enabled: boolean;
  llm_configured: boolean;
  model: string | null;
  models: string[];
  default_model: string | null;
}

export interface AuditBody {
  name: string;
  description?: string | null;
  enabled?: boolean | null;
  schedule_interval_secs?: number | null;
  schedule_anchor?: string | null;
  window_mode?: "since_last" | "fixed";
  lookback_window_secs?: number | null;
  scope?: AuditScopeBody | null;
  signals?: ("error_cluster" | "tool_failure" | "latency_drift" | "error_drift" | "score_drift" | "goal_failure" | "abandoned_session" | "tool_loop" | "context_pressure" | "token_outlier" | "leaked_credential" | "evaluation_gap")[] | null;
  ignore_error_types?: string[] | null;
  sensitivity?: "low" | "medium" | "high";
  top_k?: number | null;
  llm_enabled?: boolean | null;
  channels?: Record<string, unknown>[] | null;
}

export interface AuditContext {
  text: string;
  urls: string[];
}

export interface AuditContextBody {
  text?: string | null;
  urls?: string[] | null;
}

export interface AuditLogLine {
  id: string;
  at: string;
  actor_kind: "user" | "key" | "operator" | "anonymous" | "system";
  actor_id: string | null;
  actor: string;
  key_name: string | null;
  way: "web" | "mcp" | "orgctl" | "system";
  address: string | null;
  request_id: string | null;
  noun: string;
  action: string;
  target_id: string | null;
  target: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export interface AuditLogPage {
  lines: AuditLogLine[];
  next_cursor: string | null;
}

export interface AuditRow {
  id: string;
  name: string;
  description: string | null;
  enabled: boolean;
  schedule_interval_secs: number;
  schedule_anchor: string;
  window_mode: "since_last" | "fixed";
  lookback_window_secs: number;
  scope: AuditScope;
  signals: string[];
  ignore_error_types: string[];
  sensitivity: "low" | "medium" | "high";
  top_k: number;
  llm_enabled: boolean;
  channels: Record<string, unknown>[];
  created_by: string;
  created_at: string;
  updated_at: string;
  open_findings: number;
  last_run_status: "running" | "succeeded" | "failed";
  last_run_finished_at: string | null;
  last_attempted_at: string | null;
  next_attempt_at: string | null;
  last_error: string | null;
  additional_context: string;
  reference_url_count: number;
}

export interface AuditRunRow {
  id: string;
  audit_id: string;
  status: "running" | "succeeded" | "failed";
  trigger_kind: "scheduled" | "manual";
  window_from: string;
  window_to: string;
  started_at: string;
  finished_at: string | null;
  stats: Record<string, unknown>;
  findings_count: number;
  new_findings_count: number;
  report: string | null;
  error: string | null;
}

export interface AuditScope {
  environments: string[];
  agent_ids: string[];
}

export interface AuditScopeBody {
  environments?: string[] | null;
  agent_ids?: string[] | null;
}

export interface BillingWindow {
  start: string;
  end: string;
}

export interface Checks {
  postgres: "ok" | "down";
  clickhouse: "ok" | "down";
  redis: "ok" | "down";
  ingest: "ok" | "down";
  evaluator: "ok" | "down" | "unknown" | "disabled";
  ingest_lag_secs: number | null;
  oldest_job_secs: number | null;
  canary: "ok" | "down" | "unknown" | "disabled";
  canary_age_secs: number | null;
  canary_begins: "web" | "redis";
  canary_groups_late: number | null;
  broken: "web" | "redis" | "ingest" | "postgres" | "clickhouse";
}

export interface CodeBody {
  email: string;
  code: string;
}

export interface CodeRequestBody {
  email: string;
}

export interface CodeRequested {
  sent: boolean;
}

export interface CommentBody {
  body: string;
}

export interface CommentRow {
  id: string;
  incident_id: string;
  author_email: string;
  body: string | null;
  created_at: string;
  edited_at: string | null;
  deleted_at: string | null;
}

export interface ConversationDetail {
  id: string;
  title: string;
  created_at: string;
  updated_at: string;
  messages: Message[];
}

export interface ConversationList {
  conversations: ConversationRow[];
  next_cursor: string | null;
}

export interface ConversationRow {
  id: string;
  title: string;
  created_at: string;
  updated_at: string;
  message_count: number;
}

export interface DashboardBody {
  name: string;
  description?: string | null;
  definition?: Record<string, unknown> | null;
}

export interface DashboardDetail {
  id: string;
  name: string;
  description: string;
  definition: Record<string, unknown>;
  tile_count: number;
  created_by: string | null;
  created_at: string;
  updated_at: string;
  tiles: TileRow[];
}

export interface DashboardList {
  dashboards: DashboardRow[];
}

export interface DashboardRow {
  id: string;
  name: string;
  description: string;
  definition: Record<string, unknown>;
  tile_count: number;
  created_by: string | null;
  created_at: string;
  updated_at: string;
}

export interface DeletedDashboard {
  ok: boolean;
}

export interface DeletedQuery {
  ok: boolean;
}

export interface DeletedSet {
  affected_users: number;
}

export interface DeletionBody {
  session_ids?: string[] | null;
  field?: string | null;
  equals?: string | null;
}

export interface DeletionCounts {
  clickhouse: Record<string, number>;
  postgres: Record<string, number>;
  redis: Record<string, number>;
}

export interface DeletionDetail {
  id: string;
  state: "queued" | "running" | "hidden" | "rewritten" | "done" | "failed";
  field: string | null;
  value_hash: string | null;
  sessions: number;
  removed: DeletionCounts;
  remaining: Record<string, number>;
  created_by: string;
  created_at: string;
  hidden_at: string | null;
  rewritten_at: string | null;
  finished_at: string | null;
  error: string | null;
  dropped_events: number;
  proofs: DeletionProof[];
  not_reached: string[];
}

export interface DeletionList {
  deletions: DeletionRow[];
}

export interface DeletionPreview {
  sessions: number;
  removed: DeletionCounts;
  remaining: Record<string, number>;
}

export interface DeletionProof {
  title: string;
  sql: string;
}

export interface DeletionRow {
  id: string;
  state: "queued" | "running" | "hidden" | "rewritten" | "done" | "failed";
  field: string | null;
  value_hash: string | null;
  sessions: number;
  removed: DeletionCounts;
  remaining: Record<string, number>;
  created_by: string;
  created_at: string;
  hidden_at: string | null;
  rewritten_at: string | null;
  finished_at: string | null;
  error: string | null;
}

export interface DeliveryTest {
  ok: boolean;
  synthetic_incident_id: string;
  deliveries: TestedDelivery[];
}

export interface DeliveryTestBody {
  channels?: Record<string, unknown>[] | null;
}

export interface EndedSessions {
  ended: number;
}

export interface ErrorBody {
  error: string;
  code: string;
  request_id: string;
  required_permission?: string;
  fields?: Record<string, string[]>;
  detail?: string;
}

export interface ErrorGroup {
  key: string | null;
  total: number;
  sessions: number;
  last_ts: string;
}

export interface ErrorSummary {
  total: number;
  sessions: number;
  agents: number;
  last_ts: string | null;
  bins: number[];
  bounds: ErrorSummaryBounds;
  groups: ErrorGroup[];
}

export interface ErrorSummaryBounds {
  from_ms: number;
  to_ms: number;
}

export interface EvalRequest {
  schema_version: string;
  session_id: string;
  agent_id: string;
  environment: string;
  started_at: string;
  ended_at: string | null;
  events: ExportedEvent[];
}

export interface Evaluation {
  evaluation_id: string;
  id: string;
  session_id: string;
  agent_id: string;
  environment: string;
  status: "done" | "error" | "timeout";
  scores: Record<string, number> | null;
  reasoning: Record<string, string> | null;
  summary: string | null;
  error: string | null;
  attempt_count: number;
  duration_ms: number | null;
  completed_at: string;
  created_at: string;
}

export interface EvaluationAggregate {
  total: number;
  status_counts: StatusCounts;
  score_stats: ScoreStats[];
  timeline: Timeline;
  series: ScoreSeries[];
  series_truncated: boolean;
  histograms: ScoreHistogram[];
}

export interface EvaluationJob {
  id: string;
  session_id: string;
  agent_id: string;
  environment: string;
  status: "pending" | "polling";
  trigger: "agent_end" | "inactivity" | "manual";
  attempt_count: number;
  evaluator_job_id: string | null;
  enqueued_at: string;
  next_attempt_at: string;
  poll_deadline_at: string | null;
  last_error: string | null;
}

export interface EvaluationLine {
  evaluation_id: string;
  session_id: string;
  agent_id: string;
  environment: string;
  status: string;
  scores: Record<string, number> | null;
  reasoning: Record<string, string> | null;
  summary: string | null;
  error: string | null;
  attempt_count: number;
  duration_ms: number | null;
  completed_at: string;
}

export interface EvaluationPage {
  evaluations: Evaluation[];
  next_cursor: string | null;
}

export interface EvaluationState {
  code: "scored" | "error" | "timeout" | "queued" | "calling" | "polling" | "not_ended" | "settling" | "disabled" | "not_for_organization" | "before_evaluator" | "waiting";
  sentence: string;
  job: EvaluationJob | null;
  since: string | null;
}

export interface EvaluatorHealth {
  state: "ok" | "failing" | "open";
  since: string | null;
  failures: number;
  last_error: string | null;
  retry_at: string | null;
}

export interface Event {
  id: number;
  session_id: string;
  agent_id: string;
  event_type: string;
  ts: string;
  environment: string;
  is_error: boolean;
  error_type: string | null;
  output_tokens: number | null;
  context_window: number | null;
  context_fill: number | null;
  payload: Record<string, unknown>;
}

export interface EventLine {
  id: number;
  session_id: string;
  agent_id: string;
  event_type: string;
  ts: string;
  environment: string;
  payload: Record<string, unknown>;
  summary: string;
  is_error: boolean;
  error_type: string | null;
  tool_name: string | null;
  tool_call_id: string | null;
  hook_name: string | null;
  hook_id: string | null;
  trigger_event: string | null;
  input_id: string | null;
  pause_id: string | null;
  request_id: string | null;
  model: string | null;
  parent_id: string | null;
  outcome: string | null;
  duration_ms: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  context_window: number | null;
  context_fill: number | null;
}

export interface EventPage {
  events: Event[];
  next_cursor: string | null;
}

export interface EventSummary {
  id: number;
  session_id: string;
  agent_id: string;
  event_type: string;
  ts: string;
  environment: string;
  is_error: boolean;
  error_type: string | null;
  output_tokens: number | null;
  context_window: number | null;
  context_fill: number | null;
  summary: string;
}

export interface EventSummaryPage {
  events: EventSummary[];
  next_cursor: string | null;
}

export interface EventWarning {
  index: number;
  field: string;
  warning: string;
  did_you_mean: string | null;
}

export interface ExportFileList {
  schedule: ExportScheduleRow | null;
  files: ExportFileRow[];
}

export interface ExportFileRow {
  name: string;
  rows: "events" | "sessions" | "evaluations";
  every: "hourly" | "daily";
  starts_at: string;
  ends_at: string;
  row_count: number;
  bytes: number;
  writes: number;
  written_at: string;
}

export interface ExportScheduleRow {
  every: "hourly" | "daily";
  since: string;
  looked_at: string | null;
  error: string | null;
}

export interface Exported {
  partialSuccess: PartialSuccess;
}

export interface ExportedEvent {
  id: number;
  ts: string;
  event_type: string;
  payload: Record<string, unknown>;
}

export interface FindingActionBody {
  action: "ack" | "mute" | "dismiss" | "resolve" | "reopen" | "assign" | "acknowledge";
  reason?: string | null;
  assigned_to?: string | null;
}

export interface FindingActionDone {
  id: string;
  action: "ack" | "mute" | "dismiss" | "resolve" | "reopen" | "assign";
  ok: boolean;
  status: "open" | "recurring" | "resolved" | "dismissed" | "muted";
}

export interface FindingEvidence {
  session_ids: string[];
  event_ids: number[];
  numbers: Record<string, number>;
}

export interface FindingQueryRow {
  title: string;
  sql: string;
}

export interface FindingRow {
  id: string;
  audit_id: string;
  audit_name: string;
  fingerprint: string;
  signal: "error_cluster" | "tool_failure" | "latency_drift" | "error_drift" | "score_drift" | "goal_failure" | "abandoned_session" | "tool_loop" | "context_pressure" | "token_outlier" | "leaked_credential" | "evaluation_gap";
  title: string;
  category: string;
  failure_type: string;
  kind: "failure" | "improvement" | "policy";
  severity: "info" | "warning" | "critical";
  magnitude: "small" | "medium" | "big";
  priority: number;
  status: "open" | "recurring" | "resolved" | "dismissed" | "muted";
  occurrences: number;
  first_seen_at: string;
  last_seen_at: string;
  description: string;
  root_cause_hypothesis: string | null;
  recommendation: string | null;
  expected_impact: string | null;
  effort: string | null;
  evidence: FindingEvidence;
  evidence_queries: FindingQueryRow[];
  scope: FindingScope;
  assigned_to: string | null;
  issue_id: string | null;
}

export interface FindingScope {
  environments: string[];
  agent_ids: string[];
  event_types: string[];
  tool_names: string[];
  hook_names: string[];
  models: string[];
  error_types: string[];
}

export interface GrantBody {
  permission_set?: string | null;
  permission_added?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_removed?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface Health {
  status: "ok";
}

export interface Imported {
  format: string;
  dry_run: boolean;
  lines: number;
  events: number;
  accepted: number;
  duplicate: number;
  skipped: number;
  ignored: number;
  held_back: number;
  errors: SkippedLine[];
  sessions: ImportedSession[];
  session_count: number;
  skipped_sessions: SkippedSession[];
  first_ts: string | null;
  last_ts: string | null;
}

export interface ImportedSession {
  session_id: string;
  events: number;
  accepted: number;
}

export interface IncidentCount {
  count: number;
}

export interface IncidentDetail {
  id: string;
  title: string;
  source: "alert" | "manual" | "audit";
  source_finding_id: string | null;
  alert_id: string | null;
  alert_name: string | null;
  alert_severity: "info" | "warning" | "critical";
  trigger_kind: string | null;
  state: "firing" | "acknowledged" | "resolved";
  opened_at: string;
  last_breach_at: string;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  assignees: string[];
  resolved_at: string | null;
  resolved_by: string | null;
  breach_value: number | null;
  breach_summary: string | null;
  evidence: Record<string, unknown> | null;
  alert_description: string | null;
  notifications: IncidentNotification[];
  subscribers: SubscriberRow[];
  comments: CommentRow[];
  activity: ActivityRow[];
}

export interface IncidentNotification {
  id: string;
  channel: "email" | "slack" | "webhook" | "dashboard";
  target: string;
  event: "alert.firing" | "alert.resolved" | "alert.test";
  status: "queued" | "sent" | "failed" | "skipped";
  attempts: number;
  error: string | null;
  created_at: string;
}

export interface IncidentRow {
  id: string;
  title: string;
  source: "alert" | "manual" | "audit";
  source_finding_id: string | null;
  alert_id: string | null;
  alert_name: string | null;
  alert_severity: "info" | "warning" | "critical";
  trigger_kind: string | null;
  state: "firing" | "acknowledged" | "resolved";
  opened_at: string;
  last_breach_at: string;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  assignees: string[];
  resolved_at: string | null;
  resolved_by: string | null;
  breach_value: number | null;
  breach_summary: string | null;
  evidence: Record<string, unknown> | null;
}

export interface Introspection {
  id: string;
  name: string;
  org_id: string | null;
  org_slug: string | null;
  instance_scoped: boolean;
  permissions: string[];
  expires_at: string | null;
}

export interface InvitationBody {
  email: string;
  permission_set?: string | null;
  permission_added?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_removed?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permissions?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface JobList {
  jobs: EvaluationJob[];
  health: EvaluatorHealth;
}

export interface KeyBody {
  name: string;
  key: string;
  permissions?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_set?: string | null;
  expires_at?: string | null;
}

export interface KeyChangeBody {
  permissions: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface KeyRow {
  id: string;
  name: string;
  permissions: string[];
  created_at: string;
  revoked_at: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  is_protected: boolean;
}

export interface LaidOut {
  updated: number;
}

export interface LatencyAggregate {
  bounds: LatencyBounds;
  bins: LatencyBin[];
  heatmap: LatencyHeatmap;
  summary: LatencyFigures;
  events: LatencyEvents;
  sums: Record<string, number>;
  distribution: LatencyOfKey[];
}

export interface LatencyBin {
  count: number;
  error_count: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  ts: string;
  p10: number | null;
  p25: number | null;
  p75: number | null;
  p90: number | null;
}

export interface LatencyBounds {
  from: string;
  to: string;
  bin_ms: number;
}

export interface LatencyCall {
  ts: string;
  session_id: string;
  event_id: number;
  key: string;
  latency_ms: number;
  is_error: boolean;
}

export interface LatencyCalls {
  total: number;
  calls: LatencyCall[];
}

export interface LatencyEvents {
  start: number;
  end: number;
  unpaired_start: number;
}

export interface LatencyFigures {
  count: number;
  error_count: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}

export interface LatencyHeatmap {
  edges_ms: number[];
  counts: number[][];
}

export interface LatencyOfKey {
  count: number;
  error_count: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  key: string;
}

export interface LayoutBody {
  tiles: PlaceBody[];
}

export interface LimitsToday {
  enforced: boolean;
  key_requests_per_sec: number;
  key_events_per_sec: number;
  org_events_per_day: number;
  day: string;
  events: number;
  refused_requests: number;
  refused_events: number;
  refused_by: RefusedBy;
}

export interface McpMessage {
  jsonrpc: string;
  id: unknown;
  result: Record<string, unknown>;
  error: Record<string, unknown>;
}

export interface Message {
  role: "user" | "assistant";
  content: unknown;
}

export interface MetricKey {
  name: string;
  unit: string;
  count: number;
}

export interface NewConversationBody {
  title?: string;
}

export interface NewSetBody {
  name: string;
  description?: string;
  permissions: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface OpenBody {
  summary: string;
  title?: string | null;
}

export interface OpenSession {
  id: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  address: string | null;
  browser: string | null;
  is_current: boolean;
}

export interface OpenedRow {
  id: string;
  newly_opened: boolean;
  state: "firing" | "acknowledged" | "resolved";
  source: "alert" | "manual" | "audit";
}

export interface OtelEndpoints {
  http: string;
  grpc: string | null;
}

export interface OtelService {
  name: string;
  event_count: number;
  spans: number;
  rejected: number;
  not_stored: number;
  last_received_at: string;
  content_missing: boolean;
  unmapped: OtelUnmapped[];
}

export interface OtelStatus {
  enabled: boolean;
  events_24h: number;
  last_received_at: string | null;
  content_missing: boolean;
  session_conflicts: number;
  endpoints: OtelEndpoints;
  services: OtelService[];
}

export interface OtelUnmapped {
  attribute: string;
  count: number;
}

export interface Outline {
  session_id: string;
  total: number;
  offset: number;
  base_ts: string;
  agents: OutlineAgent[];
  types: string[];
  names: string[];
  columns: OutlineColumns;
  prev_cursor: string | null;
  next_cursor: string | null;
  watermark: string;
}

export interface OutlineAgent {
  agent_id: string;
  parent: number | null;
  event_count: number;
}

export interface OutlineColumns {
  id: number[];
  t: number[];
  type: number[];
  agent: number[];
  name: number[];
  pair: number[];
  duration_ms: (number | null)[];
  error: number[];
  input_tokens: (number | null)[];
  output_tokens: (number | null)[];
  context_fill: (number | null)[];
  summary: string[];
}

export interface PartialSuccess {
  errorMessage: string;
  rejectedSpans: string;
  rejectedLogRecords: string;
  rejectedDataPoints: string;
}

export interface PlaceBody {
  id: string;
  pos_x: number;
  pos_y: number;
  pos_w: number;
  pos_h: number;
}

export interface PreviewBody {
  trigger_kind: "metric_threshold" | "custom_sql" | "evaluation_score" | "eval_compound" | "per_event";
  trigger_spec: Record<string, unknown>;
  min_breaches?: number | null;
  eval_window?: number | null;
  eval_interval_secs?: number | null;
  from?: string | null;
  to?: string | null;
}

export interface PreviewBounds {
  from: string;
  to: string;
  step_secs: number;
}

export interface PreviewIncident {
  opened_at: string;
  resolved_at: string | null;
  breaches: number;
}

export interface PreviewPoint {
  ts: string;
  value: number | null;
  breach: boolean | null;
}

export interface PublishedTables {
  schema: string;
  tables: SchemaTable[];
}

export interface QueryBody {
  name: string;
  description?: string | null;
  sql_text: string;
  params?: Record<string, unknown>[] | null;
}

export interface QueryList {
  queries: QueryRow[];
}

export interface QueryResult {
  columns: ResultColumn[];
  rows: unknown[][];
  truncated: boolean;
  elapsed_ms: number;
}

export interface QueryRow {
  id: string;
  name: string;
  description: string;
  sql_text: string;
  params: Record<string, unknown>[];
  created_by: string | null;
  created_at: string;
  updated_at: string;
}

export interface Queued {
  session_id: string;
  status: "queued";
  job_id: string;
}

export interface QueuedAuditRun {
  queued: boolean;
  run_id: string;
}

export interface RangeBody {
  from?: string | null;
  to?: string | null;
}

export interface Ready {
  status: "ok" | "unavailable";
  checks: Checks;
}

export interface Receipt {
  bucket_start: string | null;
  source: "events" | "import" | "otlp_http" | "otlp_grpc";
  key_id: string | null;
  key_name: string | null;
  sender: string;
  machine_id: string | null;
  service: string | null;
  requests: number;
  accepted: number;
  duplicate: number;
  skipped: number;
  not_stored: number;
  dead_lettered: number;
  refused: number;
  warnings: number;
  reasons: ReceiptReason[];
  first_at: string;
  last_at: string;
  lag_ms: ReceiptLag;
  newest_event_at: string | null;
}

export interface ReceiptLag {
  p50: number | null;
  max: number | null;
}

export interface ReceiptPage {
  receipts: Receipt[];
  next_cursor: string | null;
}

export interface ReceiptReason {
  reason: string;
  count: number;
}

export interface Recipient {
  email: string;
}

export interface RefusedBy {
  key_requests: number;
  key_events: number;
  org_events: number;
}

export interface RegeneratedKey {
  id: string;
  name: string;
  permissions: string[];
  created_at: string;
  key: string;
}

export interface RenameBody {
  title: string;
}

export interface Requested {
  sessions: number;
  queued: number;
  dry_run: boolean;
}

export interface ResolveBody {
  snooze_secs?: number;
}

export interface ResolvedWindow {
  model_id: string;
  context_window: number | null;
  source: "override" | "default" | "unknown";
}

export interface ResultColumn {
  name: string;
  type: string;
}

export interface RunBody {
  sql?: string | null;
  query_id?: string | null;
  params?: unknown[] | null;
}

export interface SchemaColumn {
  name: string;
  type: string;
}

export interface SchemaTable {
  name: string;
  columns: SchemaColumn[];
}

export interface ScoreHistogram {
  key: string;
  min: number;
  max: number;
  counts: number[];
}

export interface ScoreSeries {
  agent_id: string;
  environment: string;
  key: string;
  agg: "avg" | "min" | "max" | "p50" | "p75" | "p90" | "p95" | "p99" | "stddev";
  points: SeriesPoint[];
}

export interface ScoreStats {
  key: string;
  count: number;
  avg: number;
  min: number;
  max: number;
  p50: number;
}

export interface SeriesPoint {
  ts: string;
  value: number | null;
}

export interface Session {
  session_id: string;
  agent_id: string;
  agents: SessionAgent[];
  environment: string;
  event_count: number;
  error_count: number;
  started_at: string;
  last_event_at: string;
  ended_at: string | null;
  outcome: string | null;
  failed: boolean;
  first_event_id: number;
  last_event_id: number;
  input_tokens: number;
  output_tokens: number;
  latest_evaluation: Evaluation | null;
}

export interface SessionAgent {
  agent_id: string;
  event_count: number;
}

export interface SessionDetail {
  session_id: string;
  agent_id: string;
  agents: SessionAgent[];
  environment: string;
  event_count: number;
  error_count: number;
  started_at: string;
  last_event_at: string;
  ended_at: string | null;
  outcome: string | null;
  failed: boolean;
  first_event_id: number;
  last_event_id: number;
  input_tokens: number;
  output_tokens: number;
  latest_evaluation: Evaluation | null;
  evaluation_state: EvaluationState;
}

export interface SessionLine {
  session_id: string;
  agent_id: string;
  agents: SessionAgent[];
  environment: string;
  event_count: number;
  error_count: number;
  started_at: string;
  last_event_at: string;
  ended_at: string | null;
  first_event_id: number;
  last_event_id: number;
  input_tokens: number;
  output_tokens: number;
}

export interface SessionMembership {
  org_id: string;
  org_slug: string;
  org_name: string;
  permissions: string[];
  permission_set: string | null;
  is_pending: boolean;
  feature_flags: string[];
}

export interface SessionPage {
  sessions: Session[];
  next_cursor: string | null;
}

export interface SessionPoint {
  ts: string;
  sessions: number;
  error_count: number;
  tokens: number;
  score_avg: number | null;
}

export interface SessionScore {
  key: string;
  count: number;
  avg: number | null;
}

export interface SessionTimeline {
  bucket_unit: "minute" | "5m" | "15m" | "hour" | "6h" | "day" | "week";
  bucket_secs: number;
  points: SessionPoint[];
}

export interface SessionTotals {
  sessions: number;
  event_count: number;
  error_count: number;
  input_tokens: number;
  output_tokens: number;
  score: SessionScore | null;
  timeline: SessionTimeline;
}

export interface SetBody {
  description?: string;
  permissions?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface SetRow {
  name: string;
  description: string;
  permissions: string[];
  is_builtin: boolean;
  user_count: number;
}

export interface SettingBody {
  value: boolean | string | number | string[] | null;
}

export interface SettingEntry {
  key: string;
  kind: string;
  title: string;
  description: string;
  default: boolean | string | number | string[];
  min: number | null;
  max: number | null;
  unit: string | null;
  options: string[] | null;
}

export interface SettingEntryList {
  settings: SettingEntry[];
}

export interface SettingList {
  settings: SettingRow[];
}

export interface SettingRow {
  key: string;
  value: boolean | string | number | string[];
  value_set: boolean;
  updated_at: string | null;
  updated_by: string | null;
  note: string | null;
  scope: "org";
  schema: SettingEntry;
}

export interface SignInSession {
  id: string;
  email: string;
  is_instance_admin: boolean;
  memberships: SessionMembership[];
}

export interface SignedIn {
  user: SignedInUser;
  expires_in_secs: number;
}

export interface SignedInUser {
  id: string;
  email: string;
}

export interface SignedOut {
  ok: boolean;
}

export interface SkippedLine {
  line: number;
  error: string;
}

export interface SkippedPage {
  skipped: SkippedRow[];
  next_cursor: string | null;
}

export interface SkippedRow {
  at: string;
  source: "events" | "import" | "otlp_http" | "otlp_grpc";
  key_id: string | null;
  sender: string;
  service: string | null;
  where: string;
  reason: string;
  excerpt: string;
}

export interface SkippedSession {
  session_id: string;
  reason: string;
}

export interface StandaloneBody {
  summary: string;
  title?: string | null;
  severity?: "info" | "warning" | "critical";
}

export interface Statement {
  sql: string;
}

export interface Status {
  code: number;
  message: string;
}

export interface StatusCounts {
  done: number;
  error: number;
  timeout: number;
}

export interface SubscriberRow {
  email: string;
  source: "creator" | "ack" | "comment" | "assigned" | "manual";
  subscribed_at: string;
  unsubscribed_at: string | null;
}

export interface SubscriptionBody {
  email?: string | null;
}

export interface SubscriptionRow {
  email: string;
  subscribed: boolean;
}

export interface TestedDelivery {
  channel: string;
  target: string;
  status: "queued" | "sent" | "failed" | "skipped";
  error: string | null;
}

export interface TileBody {
  query_id: string;
  title?: string | null;
  chart_type: "line" | "area" | "bar" | "stacked_bar" | "pie" | "kpi" | "table";
  chart_config?: Record<string, unknown> | null;
  param_bindings?: Record<string, unknown> | null;
  pos_x?: number | null;
  pos_y?: number | null;
  pos_w?: number | null;
  pos_h?: number | null;
}

export interface TileList {
  tiles: TileRow[];
}

export interface TileRow {
  id: string;
  dashboard_id: string;
  query_id: string;
  title: string;
  chart_type: "line" | "area" | "bar" | "stacked_bar" | "pie" | "kpi" | "table";
  chart_config: Record<string, unknown>;
  param_bindings: Record<string, unknown>;
  pos_x: number;
  pos_y: number;
  pos_w: number;
  pos_h: number;
  created_at: string;
  updated_at: string;
}

export interface Timeline {
  bucket_unit: "minute" | "5m" | "15m" | "hour" | "6h" | "day" | "week";
  bucket_secs: number;
  points: TimelinePoint[];
}

export interface TimelinePoint {
  ts: string;
  total: number;
  done: number;
  error: number;
  timeout: number;
  scores: Record<string, number>;
}

export interface TurnBody {
  messages: TurnMessage[];
  conversationId?: string | null;
  pageContext?: unknown;
  model?: string | null;
  pageActions?: string[] | null;
}

export interface TurnContent {
  text: string;
}

export interface TurnFrame {
  type: "text-delta" | "tool-start" | "tool-end" | "ask-user" | "ui-action" | "error" | "done";
  text: string;
  tool: string;
  input: unknown;
  ok: boolean;
  rows: number;
  ms: number;
  callId: string;
  question: string;
  action: string;
  artifact: Record<string, unknown>;
  message: string;
  usage: Record<string, unknown>;
}

export interface TurnMessage {
  role: "user" | "assistant";
  content: TurnContent;
}

export interface Usage {
  org_id: string;
  billing_anchor: string;
  window: BillingWindow;
  usage: UsageCounters;
  calculated_at: string;
  stale_after: string;
  limits: LimitsToday | null;
}

export interface UsageCounters {
  events_ingested: number;
  sessions: number;
  agents: number;
  environments: number;
  evaluations: number;
  evaluation_runs: number;
  audit_runs: number;
  incidents_opened: number;
  alerts_created: number;
  queries_created: number;
  dashboards_created: number;
  assistant_turns: number;
  assistant_tokens: number;
  users_active: number;
  keys_active: number;
}

export interface UsageOfWindow {
  from: string;
  to: string;
  events_ingested: number;
  evaluations: number;
}

export interface UsageWindows {
  windows: UsageOfWindow[];
}

export interface UserDefaults {
  permission_set: string;
  permissions: string[];
}

export interface UserRow {
  id: string;
  email: string;
  permissions: string[];
  permission_set: string | null;
  permission_added: string[];
  permission_removed: string[];
  disabled_at: string | null;
  is_protected: boolean;
  created_at: string;
  updated_at: string;
}

export interface WindowBody {
  model_id: string;
  context_window: number;
}

export interface WindowList {
  model_context_windows: WindowRow[];
}

export interface WindowRow {
  model_id: string;
  context_window: number;
  updated_at: string;
}

export interface _Again {
  session_id?: string;
  agent_id?: string;
  environment?: string;
  status?: string;
  score_filters?: string;
  ts_from?: string | null;
  ts_to?: string | null;
  time?: "completion" | "session";
  latest_per_session?: boolean;
  dry_run?: boolean | null;
}

export interface Routes {
  "GET /openapi.json": { answer: Record<string, unknown> };
  "GET /health": { answer: Health };
  "GET /ready": { answer: Ready };
  "GET /events/environments": { answer: string[] };
  "GET /events/event_types": { answer: string[] };
  "GET /events/agent_ids": { answer: string[] };
  "GET /events/models": { answer: string[] };
  "GET /events/tool_names": { answer: string[] };
  "GET /events/hook_names": { answer: string[] };
  "GET /events/error_types": { answer: string[] };
  "GET /events/trigger_events": { answer: string[] };
  "POST /events/import": { query: { "format"?: "auto" | "agenteye" | "atif" | "otlp" | "claude" | "codex" | "failproofai"; "path"?: string; "environment"?: string; "dry_run"?: boolean; "existing_before"?: number; "started_at"?: string }; body: string; answer: Imported };
  "GET /events/latency_aggregate": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "start_event_type"?: string; "end_event_type"?: string; "outcome"?: "success" | "error" | "all"; "pair_key_paths"?: string; "distribution_key_paths"?: string; "payload_contains"?: string; "as"?: "sql"; "bin_count"?: number; "payload_sum_paths"?: string; "distribution_limit"?: number; "distribution_order"?: "count" | "error_count" | "p50" | "p95" | "p99" | "max" }; answer: LatencyAggregate };
  "GET /events/latency_calls": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "start_event_type"?: string; "end_event_type"?: string; "outcome"?: "success" | "error" | "all"; "pair_key_paths"?: string; "distribution_key_paths"?: string; "payload_contains"?: string; "latency_from"?: number; "latency_to"?: number; "limit"?: number }; answer: LatencyCalls };
  "GET /events/error_summary": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "group_by"?: "error_type" | "tool_name" | "agent_id" | "message" }; answer: ErrorSummary };
  "GET /events": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "order"?: "asc" | "desc"; "cursor"?: string; "limit"?: number }; answer: EventPage };
  "POST /events": { body: { session_id: string; timestamp: string; type: string; agent_id?: string; environment?: string; }[] | { events: { session_id: string; timestamp: string; type: string; agent_id?: string; environment?: string; }[]; }; answer: Accepted };
  "GET /events/summary": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "order"?: "asc" | "desc"; "cursor"?: string; "limit"?: number }; answer: EventSummaryPage };
  "POST /traces": { body: { resourceSpans?: Record<string, unknown>[]; }; answer: Exported };
  "POST /logs": { body: { resourceLogs?: Record<string, unknown>[]; }; answer: Exported };
  "POST /metrics": { body: { resourceMetrics?: Record<string, unknown>[]; }; answer: Exported };
  "GET /otel/status": { answer: OtelStatus };
  "GET /auth/introspect": { answer: Introspection };
  "POST /auth/otp/request": { body: CodeRequestBody; answer: CodeRequested };
  "POST /auth/otp/verify": { body: CodeBody; answer: SignedIn };
  "GET /auth/session": { answer: SignInSession };
  "POST /auth/logout": { answer: SignedOut };
  "GET /auth/sessions": { answer: OpenSession[] };
  "DELETE /auth/sessions": { answer: EndedSessions };
  "DELETE /auth/sessions/{session_id}": { path: { "session_id": string }; answer: EndedSessions };
  "GET /keys": { answer: KeyRow[] };
  "POST /keys": { body: KeyBody; answer: KeyRow };
  "PATCH /keys/{key_id}": { path: { "key_id": string }; body: KeyChangeBody; answer: KeyRow };
  "POST /keys/{key_id}/disable": { path: { "key_id": string }; answer: KeyRow };
  "POST /keys/{key_id}/regenerate": { path: { "key_id": string }; answer: RegeneratedKey };
  "GET /users": { answer: UserRow[] };
  "POST /users": { body: InvitationBody; answer: UserRow };
  "GET /users/defaults": { answer: UserDefaults };
  "GET /users/{user_id}": { path: { "user_id": string }; answer: UserRow };
  "PUT /users/{user_id}": { path: { "user_id": string }; body: GrantBody; answer: UserRow };
  "DELETE /users/{user_id}": { path: { "user_id": string }; answer: UserRow };
  "DELETE /users/me": { answer: UserRow };
  "POST /users/{user_id}/enable": { path: { "user_id": string }; answer: UserRow };
  "GET /access-granters": { answer: AccessGranter[] };
  "GET /permission-sets": { answer: SetRow[] };
  "POST /permission-sets": { body: NewSetBody; answer: SetRow };
  "GET /permission-sets/{name}": { path: { "name": string }; answer: SetRow };
  "PUT /permission-sets/{name}": { path: { "name": string }; body: SetBody; answer: SetRow };
  "DELETE /permission-sets/{name}": { path: { "name": string }; answer: DeletedSet };
  "GET /sessions/{session_id}/outline": { path: { "session_id": string }; query: { "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "columns"?: "id"; "limit"?: number; "cursor"?: string; "around"?: number; "since"?: string }; answer: Outline };
  "GET /sessions": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "sort"?: string; "order"?: "asc" | "desc"; "cursor"?: string; "limit"?: number }; answer: SessionPage };
  "GET /sessions/totals": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "ts_from"?: string; "ts_to"?: string; "score_key"?: string }; answer: SessionTotals };
  "GET /sessions/{session_id}": { path: { "session_id": string }; answer: SessionDetail };
  "GET /sessions/{session_id}/export": { path: { "session_id": string }; query: { "format"?: "jsonl" | "array" | "json" }; answer: EvalRequest | ExportedEvent[] };
  "GET /sessions/{session_id}/events/{event_id}": { path: { "session_id": string; "event_id": number }; answer: Event };
  "GET /evaluations": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "ts_from"?: string; "ts_to"?: string; "time"?: "completion" | "session"; "latest_per_session"?: boolean; "as"?: "sql"; "lowest"?: string; "cursor"?: string; "limit"?: number }; answer: EvaluationPage };
  "GET /evaluations/aggregate": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "ts_from"?: string; "ts_to"?: string; "time"?: "completion" | "session"; "latest_per_session"?: boolean; "as"?: "sql"; "featured_keys"?: string; "bucket"?: "minute" | "5m" | "15m" | "hour" | "6h" | "day" | "week" | "auto"; "series"?: string; "histogram"?: number }; answer: EvaluationAggregate };
  "GET /evaluations/environments": { answer: string[] };
  "GET /evaluations/score_keys": { answer: string[] };
  "GET /evaluations/metric_keys": { answer: MetricKey[] };
  "GET /evaluation-jobs": { query: { "status"?: string; "session_id"?: string; "health"?: boolean; "limit"?: number }; answer: JobList };
  "POST /evaluations/re-evaluate": { body: _Again; answer: Requested };
  "POST /sessions/{session_id}/re-evaluate": { path: { "session_id": string }; answer: Queued };
  "GET /exports/events": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "format"?: "ndjson" | "parquet" }; answer: EventLine };
  "GET /exports/sessions": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "ts_from"?: string; "ts_to"?: string; "format"?: "ndjson" | "parquet" }; answer: SessionLine };
  "GET /exports/evaluations": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "ts_from"?: string; "ts_to"?: string; "time"?: "completion" | "session"; "latest_per_session"?: boolean; "format"?: "ndjson" | "parquet" }; answer: EvaluationLine };
  "GET /exports/files": { query: { "limit"?: number; "offset"?: number }; answer: ExportFileList };
  "GET /deletions": { query: { "limit"?: number; "offset"?: number }; answer: DeletionList };
  "POST /deletions": { body: DeletionBody; answer: DeletionRow };
  "POST /deletions/preview": { body: DeletionBody; answer: DeletionPreview };
  "GET /deletions/{deletion_id}": { path: { "deletion_id": string }; answer: DeletionDetail };
  "POST /queries/run": { body: RunBody; answer: QueryResult };
  "GET /queries/schema": { answer: PublishedTables };
  "GET /queries": { answer: QueryList };
  "POST /queries": { body: QueryBody; answer: QueryRow };
  "GET /queries/{query_id}": { path: { "query_id": string }; answer: QueryRow };
  "PUT /queries/{query_id}": { path: { "query_id": string }; body: QueryBody; answer: QueryRow };
  "DELETE /queries/{query_id}": { path: { "query_id": string }; answer: DeletedQuery };
  "GET /dashboards": { answer: DashboardList };
  "POST /dashboards": { body: DashboardBody; answer: DashboardRow };
  "GET /dashboards/{dashboard_id}": { path: { "dashboard_id": string }; answer: DashboardDetail };
  "PUT /dashboards/{dashboard_id}": { path: { "dashboard_id": string }; body: DashboardBody; answer: DashboardRow };
  "DELETE /dashboards/{dashboard_id}": { path: { "dashboard_id": string }; answer: DeletedDashboard };
  "GET /dashboards/{dashboard_id}/tiles": { path: { "dashboard_id": string }; answer: TileList };
  "POST /dashboards/{dashboard_id}/tiles": { path: { "dashboard_id": string }; body: TileBody; answer: TileRow };
  "POST /dashboards/{dashboard_id}/tiles/{tile_id}/run": { path: { "dashboard_id": string; "tile_id": string }; body: RangeBody; answer: QueryResult };
  "PUT /dashboards/{dashboard_id}/tiles/{tile_id}": { path: { "dashboard_id": string; "tile_id": string }; body: TileBody; answer: TileRow };
  "DELETE /dashboards/{dashboard_id}/tiles/{tile_id}": { path: { "dashboard_id": string; "tile_id": string }; answer: DeletedDashboard };
  "PUT /dashboards/{dashboard_id}/tiles/layout": { path: { "dashboard_id": string }; body: LayoutBody; answer: LaidOut };
  "GET /alerts/incidents": { query: { "state"?: string; "alert_id"?: string; "resolved_since"?: string; "limit"?: number }; answer: IncidentRow[] };
  "POST /alerts/incidents": { body: StandaloneBody; answer: OpenedRow };
  "GET /alerts/incidents/count": { query: { "state"?: string; "alert_id"?: string; "resolved_since"?: string }; answer: IncidentCount };
  "GET /alerts/{alert_id}/incidents": { path: { "alert_id": string }; query: { "state"?: string; "limit"?: number }; answer: IncidentRow[] };
  "POST /alerts/{alert_id}/incidents": { path: { "alert_id": string }; body: OpenBody; answer: OpenedRow };
  "GET /alerts/incidents/{incident_id}": { path: { "incident_id": string }; answer: IncidentDetail };
  "GET /alerts/incidents/{incident_id}/values": { path: { "incident_id": string }; answer: AlertPreview };
  "POST /alerts/incidents/{incident_id}/ack": { path: { "incident_id": string }; answer: IncidentRow };
  "POST /alerts/incidents/{incident_id}/assign": { path: { "incident_id": string }; body: AssignBody; answer: IncidentRow };
  "POST /alerts/incidents/{incident_id}/resolve": { path: { "incident_id": string }; body: ResolveBody; answer: IncidentRow };
  "POST /alerts/incidents/{incident_id}/send-again": { path: { "incident_id": string }; answer: IncidentNotification[] };
  "GET /alerts/incidents/{incident_id}/comments": { path: { "incident_id": string }; answer: CommentRow[] };
  "POST /alerts/incidents/{incident_id}/comments": { path: { "incident_id": string }; body: CommentBody; answer: CommentRow };
  "DELETE /alerts/incidents/{incident_id}/comments/{comment_id}": { path: { "incident_id": string; "comment_id": string }; answer: null };
  "GET /alerts/incidents/{incident_id}/subscribers": { path: { "incident_id": string }; answer: SubscriberRow[] };
  "POST /alerts/incidents/{incident_id}/subscribe": { path: { "incident_id": string }; body: SubscriptionBody; answer: SubscriptionRow };
  "POST /alerts/incidents/{incident_id}/unsubscribe": { path: { "incident_id": string }; body: SubscriptionBody; answer: SubscriptionRow };
  "GET /audits": { answer: AuditRow[] };
  "POST /audits": { body: AuditBody; answer: AuditRow };
  "GET /audits/{audit_id}": { path: { "audit_id": string }; answer: AuditRow };
  "PUT /audits/{audit_id}": { path: { "audit_id": string }; body: AuditBody; answer: AuditRow };
  "DELETE /audits/{audit_id}": { path: { "audit_id": string }; answer: null };
  "POST /audits/{audit_id}/run": { path: { "audit_id": string }; answer: QueuedAuditRun };
  "GET /audits/{audit_id}/runs": { path: { "audit_id": string }; query: { "limit"?: number; "offset"?: number }; answer: AuditRunRow[] };
  "GET /audits/{audit_id}/context": { path: { "audit_id": string }; answer: AuditContext };
  "PUT /audits/{audit_id}/context": { path: { "audit_id": string }; body: AuditContextBody; answer: AuditContext };
  "GET /audits/findings": { query: { "status"?: string; "audit_id"?: string; "run_id"?: string; "limit"?: number; "offset"?: number }; answer: FindingRow[] };
  "GET /audits/findings/{fid}": { path: { "fid": string }; answer: FindingRow };
  "POST /audits/findings/{fid}/status": { path: { "fid": string }; body: FindingActionBody; answer: FindingActionDone };
  "GET /alerts": { answer: AlertRow[] };
  "POST /alerts": { body: AlertBody; answer: AlertRow };
  "GET /alerts/recipients": { answer: Recipient[] };
  "POST /alerts/preview": { body: PreviewBody; answer: AlertPreview };
  "GET /alerts/{alert_id}": { path: { "alert_id": string }; answer: AlertRow };
  "PUT /alerts/{alert_id}": { path: { "alert_id": string }; body: AlertBody; answer: AlertRow };
  "DELETE /alerts/{alert_id}": { path: { "alert_id": string }; answer: null };
  "POST /alerts/{alert_id}/test": { path: { "alert_id": string }; body: DeliveryTestBody; answer: DeliveryTest };
  "GET /agent/health": { answer: AssistantHealth };
  "POST /agent/chat": { body: TurnBody; answer: TurnFrame };
  "GET /agent/conversations": { query: { "cursor"?: string; "limit"?: number }; answer: ConversationList };
  "POST /agent/conversations": { body: NewConversationBody; answer: ConversationRow };
  "GET /agent/conversations/{conversation_id}": { path: { "conversation_id": string }; answer: ConversationDetail };
  "PATCH /agent/conversations/{conversation_id}": { path: { "conversation_id": string }; body: RenameBody; answer: ConversationRow };
  "DELETE /agent/conversations/{conversation_id}": { path: { "conversation_id": string }; answer: null };
  "PUT /agent/conversations/{conversation_id}/messages": { path: { "conversation_id": string }; body: { messages: ({ role: "user" | "assistant"; content: unknown; })[]; }; answer: ConversationRow };
  "POST /mcp": { body: Record<string, unknown>; answer: McpMessage };
  "GET /audit-log": { query: { "ts_from"?: string; "ts_to"?: string; "noun"?: string; "action"?: string; "actor"?: string; "way"?: string; "target_id"?: string; "cursor"?: string; "limit"?: number }; answer: AuditLogPage };
  "GET /audit-log/export": { query: { "ts_from"?: string; "ts_to"?: string; "noun"?: string; "action"?: string; "actor"?: string; "way"?: string; "target_id"?: string }; answer: AuditLogLine };
  "GET /settings": { answer: SettingList };
  "GET /settings/schema": { answer: SettingEntryList };
  "PUT /settings/{key}": { path: { "key": string }; body: SettingBody; answer: SettingRow };
  "GET /settings/model-context-windows": { answer: WindowList };
  "PUT /settings/model-context-windows": { body: WindowBody; answer: WindowRow };
  "DELETE /settings/model-context-windows": { query: { "model"?: string }; answer: null };
  "GET /settings/model-context-windows/resolve": { query: { "model"?: string }; answer: ResolvedWindow };
  "GET /usage": { query: { "window_start"?: string }; answer: Usage };
  "GET /usage/windows": { answer: UsageWindows };
  "GET /receipts": { query: { "ts_from"?: string; "ts_to"?: string; "source"?: "events" | "import" | "otlp_http" | "otlp_grpc"; "key_id"?: string; "service"?: string; "bucket"?: "none" | "hour" | "day"; "cursor"?: string; "limit"?: number }; answer: ReceiptPage };
  "GET /receipts/skipped": { query: { "source"?: "events" | "import" | "otlp_http" | "otlp_grpc"; "key_id"?: string; "cursor"?: string; "limit"?: number }; answer: SkippedPage };
}
