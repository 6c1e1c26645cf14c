// Made by `bin/ui` from the OpenAPI document. Do not edit.

export interface Accepted {
  accepted: number;
  errors: AcceptedError[];
  skipped: number;
  warnings: EventWarning[];
}

export interface AcceptedError {
  error: string;
  line: number;
}

export interface AccessGranter {
  email: string;
}

export interface AcknowledgedActivity {
  detail: NoDetail;
  kind: "acknowledged";
}

export interface ActiveVersionBody {
  version: string | null;
}

export type Activity = OpenedActivity | AcknowledgedActivity | AssignedActivity | CommentedActivity | CommentDeletedActivity | SubscribedActivity | UnsubscribedActivity | BreachedActivity | ResolvedActivity;

export type ActivityRow = {
  actor: string;
  at: string;
} & Activity;

export type AlertBody = {
  channels?: Channel[] | null;
  description?: string | null;
  enabled?: boolean | null;
  eval_interval_secs?: number | null;
  eval_window?: number | null;
  min_breaches?: number | null;
  name: string;
  severity?: "info" | "warning" | "critical";
} & Trigger;

export interface AlertPreview {
  bound: number | null;
  bounds: PreviewBounds;
  groups: PreviewGroup[] | null;
  incidents: PreviewIncident[];
  op: string | null;
  points: PreviewPoint[];
  reason: string | null;
  replayed: boolean;
}

export type AlertRow = {
  channels: Channel[];
  created_at: string;
  created_by: string;
  description: string | null;
  enabled: boolean;
  eval_interval_secs: number;
  eval_window: number;
  id: string;
  last_attempted_at: string | null;
  last_error: string | null;
  min_breaches: number;
  name: string;
  open_incidents: number;
  severity: "info" | "warning" | "critical";
  updated_at: string;
} & Trigger;

export interface AssignBody {
  assigned_to?: string | null;
  assignees?: string[];
}

export interface AssignedActivity {
  detail: AssignedDetail;
  kind: "assigned";
}

export interface AssignedDetail {
  assignees: string[];
  before: string[];
}

export interface AssistantHealth {
  default_model: string | null;
  enabled: boolean;
  llm_configured: boolean;
  model: string | null;
  models: string[];
}

export interface AtLeast {
  at_least: number;
}

export interface AttributeKey {
  key: string;
  last_seen_at: string;
  sessions: number;
}

export interface AuditBody {
  channels?: Channel[] | null;
  description?: string | null;
  enabled?: boolean | null;
  ignore_error_types?: string[] | null;
  llm_enabled?: boolean | null;
  lookback_window_secs?: number | null;
  name: string;
  schedule_anchor?: string | null;
  schedule_interval_secs?: number | null;
  scope?: AuditScopeBody | null;
  sensitivity?: "low" | "medium" | "high";
  signals?: ("error_cluster" | "tool_failure" | "latency_drift" | "error_drift" | "score_drift" | "goal_failure" | "abandoned_session" | "tool_loop" | "context_pressure" | "token_outlier" | "leaked_credential" | "evaluation_gap")[] | null;
  top_k?: number | null;
  window_mode?: "since_last" | "fixed";
}

export interface AuditContext {
  text: string;
  urls: string[];
}

export interface AuditContextBody {
  text?: string | null;
  urls?: string[] | null;
}

export interface AuditEvidence {
  affected_sessions: number;
  event_ids: number[];
  numbers: Record<string, number>;
  session_ids: string[];
  total_sessions: number;
  window: EvidenceWindow;
}

export interface AuditLogLine {
  action: string;
  actor: string;
  actor_id: string | null;
  actor_kind: "user" | "key" | "operator" | "anonymous" | "system";
  address: string | null;
  after: Record<string, unknown> | null;
  at: string;
  before: Record<string, unknown> | null;
  id: string;
  key_name: string | null;
  noun: string;
  request_id: string | null;
  target: string | null;
  target_id: string | null;
  way: "web" | "mcp" | "orgctl" | "system";
}

export interface AuditLogPage {
  lines: AuditLogLine[];
  next_cursor: string | null;
}

export interface AuditRow {
  additional_context: string;
  channels: Channel[];
  created_at: string;
  created_by: string;
  description: string | null;
  enabled: boolean;
  id: string;
  ignore_error_types: string[];
  last_attempted_at: string | null;
  last_error: string | null;
  last_run_finished_at: string | null;
  last_run_status: "running" | "succeeded" | "failed";
  llm_enabled: boolean;
  lookback_window_secs: number;
  name: string;
  next_attempt_at: string | null;
  open_findings: number;
  reference_url_count: number;
  schedule_anchor: string;
  schedule_interval_secs: number;
  scope: AuditScope;
  sensitivity: "low" | "medium" | "high";
  signals: string[];
  top_k: number;
  updated_at: string;
  window_mode: "since_last" | "fixed";
}

export interface AuditRunRow {
  audit_id: string;
  error: string | null;
  findings_count: number;
  finished_at: string | null;
  id: string;
  new_findings_count: number;
  report: string | null;
  started_at: string;
  stats: Record<string, unknown>;
  status: "running" | "succeeded" | "failed";
  trigger_kind: "scheduled" | "manual";
  window_from: string;
  window_to: string;
}

export interface AuditScope {
  agent_ids: string[];
  environments: string[];
}

export interface AuditScopeBody {
  agent_ids?: string[] | null;
  environments?: string[] | null;
}

export interface BillingWindow {
  end: string;
  start: string;
}

export interface BreachedActivity {
  detail: BreachedDetail;
  kind: "breached";
}

export interface BreachedDetail {
  bound?: number;
  count: number;
  metric?: string;
  op?: string;
  since: string;
  summary: string;
  value?: number | null;
}

export interface Budget {
  amount_usd: number;
  auto_resolve?: boolean;
  filter?: EventFilter;
  forecast?: boolean;
  group_by?: string | null;
  levels?: number[];
  period: "day" | "month" | "week";
  tz?: string;
}

export interface BudgetAmounts {
  evaluations: number | null;
  tokens: number | null;
  usd: number | null;
}

export interface BudgetFacts {
  bound: number;
  counts: CallCounts;
  filter: Record<string, string>;
  forecast_usd: number | null;
  groups_more: number;
  level: number | "forecast";
  levels: number[];
  metric: string;
  op: string;
  period: "day" | "month" | "week";
  share: number;
  value: number | null;
  window: EvidenceWindow;
}

export interface BudgetRow {
  alert_id: string;
  amount_usd: number;
  enabled: boolean;
  ends_at: string;
  exhausted_at: string | null;
  forecast_usd: number | null;
  group: Record<string, string | null> | null;
  incident_id: string | null;
  level: number | "forecast" | null;
  name: string;
  period: "day" | "week" | "month";
  share: number;
  spent_usd: number;
  starts_at: string;
  unpriced_calls: number;
}

export interface BudgetTrigger {
  trigger_kind: "budget";
  trigger_spec: Budget;
}

export interface Budgets {
  budgets: BudgetRow[];
}

export interface BuiltinTable {
  as_of: string;
  models: number;
  source: string;
  version: string;
}

export interface CallCounts {
  calls: number;
  unpriced_calls: number;
}

export interface CallExample {
  event_id: number;
  session_id: string;
}

export interface CategoryOption {
  meaning?: string | null;
  value: string;
}

export interface ChangedSecrets {
  secrets: SecretNames;
}

export type Channel = EmailChannel | SlackChannel | WebhookChannel | DashboardChannel;

export interface Checks {
  broken: "web" | "redis" | "ingest" | "postgres" | "clickhouse";
  canary: "ok" | "down" | "unknown" | "disabled";
  canary_age_secs: number | null;
  canary_begins: "web" | "redis";
  canary_groups_late: number | null;
  clickhouse: "ok" | "down";
  evaluator: "ok" | "down" | "unknown" | "disabled";
  ingest: "ok" | "down";
  ingest_lag_secs: number | null;
  oldest_job_secs: number | null;
  postgres: "ok" | "down";
  redis: "ok" | "down";
}

export interface CodeBody {
  code: string;
  email: string;
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

export interface CommentDeletedActivity {
  detail: CommentDetail;
  kind: "comment_deleted";
}

export interface CommentDetail {
  comment_id: string;
}

export interface CommentRow {
  author_email: string;
  body: string | null;
  created_at: string;
  deleted_at: string | null;
  edited_at: string | null;
  id: string;
  incident_id: string;
}

export interface CommentedActivity {
  detail: CommentDetail;
  kind: "commented";
}

export interface CompoundEvidence {
  bound: number;
  conditions: JudgedCondition[];
  evaluation_ids?: string[];
  filter: Record<string, string>;
  metric: string;
  op: string;
  session_ids?: string[];
  value: number | null;
  window: EvidenceWindow;
}

export interface ConversationDetail {
  created_at: string;
  id: string;
  messages: Message[];
  title: string;
  updated_at: string;
}

export interface ConversationList {
  conversations: ConversationRow[];
  next_cursor: string | null;
}

export interface ConversationRow {
  created_at: string;
  id: string;
  message_count: number;
  title: string;
  updated_at: string;
}

export interface CostBounds {
  from: string;
  to: string;
}

export interface CostFigures {
  assumed_calls: number;
  cache_read_tokens: number;
  cache_write_1h_tokens: number;
  cache_write_tokens: number;
  calls: number;
  computed_usd: number;
  cost_usd: number | null;
  difference_usd: number;
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  reported_usd: number;
  sessions: number;
  unpriced_calls: number;
}

export interface CostGroup {
  assumed_calls: number;
  cache_read_tokens: number;
  cache_write_1h_tokens: number;
  cache_write_tokens: number;
  calls: number;
  computed_usd: number;
  cost_usd: number | null;
  difference_usd: number;
  input_tokens: number;
  key: Record<string, string | null>;
  output_tokens: number;
  reasoning_tokens: number;
  reported_usd: number;
  sessions: number;
  unpriced_calls: number;
}

export interface CostPoint {
  calls: number;
  cost_usd: number | null;
  tokens: number;
  ts: string;
}

export interface CostSeries {
  key: Record<string, string | null> | null;
  points: CostPoint[];
}

export interface Costs {
  bounds: CostBounds;
  currency: "USD";
  groups: CostGroup[];
  next_cursor: string | null;
  other: CostFigures | null;
  series: CostSeries[];
  total: CostFigures;
}

export interface Covers {
  event_count: number;
  last_event_at: string;
}

export interface CustomSql {
  auto_resolve?: boolean;
  op?: "<" | "<=" | "==" | ">" | ">=" | "eq" | "gt" | "gte" | "lt" | "lte" | null;
  sql: string;
  value?: number | null;
}

export interface CustomSqlTrigger {
  trigger_kind: "custom_sql";
  trigger_spec: CustomSql;
}

export interface DashboardBody {
  definition?: Record<string, unknown> | null;
  description?: string | null;
  name: string;
}

export interface DashboardChannel {
  kind: "dashboard";
}

export interface DashboardDetail {
  created_at: string;
  created_by: string | null;
  definition: Record<string, unknown>;
  description: string;
  id: string;
  name: string;
  tile_count: number;
  tiles: TileRow[];
  updated_at: string;
}

export interface DashboardList {
  dashboards: DashboardRow[];
}

export interface DashboardRow {
  created_at: string;
  created_by: string | null;
  definition: Record<string, unknown>;
  description: string;
  id: string;
  name: string;
  tile_count: number;
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
  equals?: string | null;
  field?: string | null;
  session_ids?: string[] | null;
  user_id?: string | null;
}

export interface DeletionCounts {
  clickhouse: Record<string, number>;
  postgres: Record<string, number>;
  redis: Record<string, number>;
}

export interface DeletionDetail {
  created_at: string;
  created_by: string;
  dropped_events: number;
  error: string | null;
  field: string | null;
  finished_at: string | null;
  hidden_at: string | null;
  id: string;
  not_reached: string[];
  proofs: DeletionProof[];
  remaining: Record<string, number>;
  removed: DeletionCounts;
  rewritten_at: string | null;
  sessions: number;
  state: "queued" | "running" | "hidden" | "rewritten" | "done" | "failed";
  value_hash: string | null;
}

export interface DeletionList {
  deletions: DeletionRow[];
}

export interface DeletionPreview {
  remaining: Record<string, number>;
  removed: DeletionCounts;
  sessions: number;
}

export interface DeletionProof {
  sql: string;
  title: string;
}

export interface DeletionRow {
  created_at: string;
  created_by: string;
  error: string | null;
  field: string | null;
  finished_at: string | null;
  hidden_at: string | null;
  id: string;
  remaining: Record<string, number>;
  removed: DeletionCounts;
  rewritten_at: string | null;
  sessions: number;
  state: "queued" | "running" | "hidden" | "rewritten" | "done" | "failed";
  value_hash: string | null;
}

export interface DeliveryTest {
  deliveries: TestedDelivery[];
  ok: boolean;
  synthetic_incident_id: string;
}

export interface DeliveryTestBody {
  channels?: Channel[] | null;
}

export interface DimensionValue {
  last_seen_at: string;
  sessions: number;
  value: string;
}

export interface DimensionValues {
  field: string;
  truncated: boolean;
  values: DimensionValue[];
}

export interface Dimensions {
  attributes: AttributeKey[];
  complete_since: string | null;
  left_out: OmittedCounts;
  left_out_keys: string[];
  tags: number;
  users: number;
  versions: number;
}

export interface EmailChannel {
  kind: "email";
  recipients?: string[] | null;
}

export interface EndedSessions {
  ended: number;
}

export interface ErrorBody {
  code: string;
  detail?: string;
  error: string;
  fields?: Record<string, string[]>;
  request_id: string;
  required_permission?: string;
}

export interface ErrorGroup {
  key: string | null;
  last_ts: string;
  sessions: number;
  total: number;
}

export interface ErrorSummary {
  agents: number;
  bins: number[];
  bounds: ErrorSummaryBounds;
  groups: ErrorGroup[];
  last_ts: string | null;
  sessions: number;
  total: number;
}

export interface ErrorSummaryBounds {
  from_ms: number;
  to_ms: number;
}

export interface EvalCompound {
  auto_resolve?: boolean;
  combinator: "all" | "any" | AtLeast;
  conditions: ScoreCondition[];
  environment?: string | null;
  min_count?: number;
  window_secs?: number;
}

export interface EvalCompoundTrigger {
  trigger_kind: "eval_compound";
  trigger_spec: EvalCompound;
}

export interface EvalRequest {
  agent_id: string;
  ended_at: string | null;
  environment: string;
  events: ExportedEvent[];
  schema_version: string;
  session_id: string;
  started_at: string;
}

export interface Evaluation {
  agent_id: string;
  attempt_count: number;
  backfill_id: string | null;
  completed_at: string;
  coverage: unknown;
  covers: Covers | null;
  created_at: string;
  duration_ms: number | null;
  environment: string;
  error: string | null;
  evaluation_id: string;
  evaluator: string;
  evaluator_version: string | null;
  id: string;
  reasoning: Record<string, string> | null;
  results: EvaluationResult[];
  scores: Record<string, number> | null;
  session_id: string;
  stale: boolean;
  status: "done" | "error" | "timeout";
  summary: string | null;
  trigger: string | null;
  usage: EvaluatorUsage | null;
}

export interface EvaluationAggregate {
  histograms: ScoreHistogram[];
  score_stats: ScoreStats[];
  series: ScoreSeries[];
  series_truncated: boolean;
  status_counts: StatusCounts;
  timeline: Timeline;
  total: number;
}

export interface EvaluationCounts {
  evaluations: number;
}

export interface EvaluationJob {
  agent_id: string;
  attempt_count: number;
  enqueued_at: string;
  environment: string;
  evaluator_job_id: string | null;
  id: string;
  last_error: string | null;
  next_attempt_at: string;
  poll_deadline_at: string | null;
  session_id: string;
  status: "pending" | "polling";
  trigger: "agent_end" | "inactivity" | "manual";
}

export interface EvaluationLine {
  agent_id: string;
  attempt_count: number;
  completed_at: string;
  duration_ms: number | null;
  environment: string;
  error: string | null;
  evaluation_id: string;
  reasoning: Record<string, string> | null;
  scores: Record<string, number> | null;
  session_id: string;
  status: string;
  summary: string | null;
}

export interface EvaluationPage {
  evaluations: Evaluation[];
  next_cursor: string | null;
}

export interface EvaluationResult {
  evidence: string[];
  flags: string[];
  key: string;
  kind: "score" | "number" | "assertion" | "category" | "text";
  labels: string[];
  passed: boolean | null;
  reasoning: string | null;
  unit: string | null;
  value: unknown;
}

export interface EvaluationScore {
  agent_id?: string | null;
  auto_resolve?: boolean;
  environment?: string | null;
  min_count?: number;
  op: "<" | "<=" | "==" | ">" | ">=" | "eq" | "gt" | "gte" | "lt" | "lte";
  score_key: string;
  value: number;
  window_secs: number;
}

export interface EvaluationScoreTrigger {
  trigger_kind: "evaluation_score";
  trigger_spec: EvaluationScore;
}

export interface EvaluationState {
  code: "scored" | "error" | "timeout" | "queued" | "calling" | "polling" | "not_ended" | "settling" | "disabled" | "not_for_organization" | "before_evaluator" | "waiting";
  job: EvaluationJob | null;
  sentence: string;
  since: string | null;
}

export interface EvaluatorBody {
  budget?: { evaluations?: number | null; tokens?: number | null; usd?: number | null; } | null;
  concurrency?: number;
  description?: string;
  enabled?: boolean;
  idle_secs?: number | null;
  key: string;
  kind: "push" | "pull" | "sql" | "judge";
  labels?: string[];
  max_attempts?: number;
  name?: string;
  poll_max_secs?: number;
  pool?: string | null;
  priority?: number;
  rescore?: "never" | "each_end" | "each_idle";
  rescore_max?: number;
  sample?: number;
  sample_seed?: string;
  secrets?: SecretsBody | null;
  timeout_ms?: number;
  version?: VersionBody | null;
}

export interface EvaluatorChangeBody {
  budget?: { evaluations?: number | null; tokens?: number | null; usd?: number | null; } | null;
  concurrency?: number;
  description?: string;
  enabled?: boolean;
  idle_secs?: number | null;
  key?: string | null;
  kind?: "push" | "pull" | "sql" | "judge";
  labels?: string[];
  max_attempts?: number;
  name?: string;
  poll_max_secs?: number;
  pool?: string | null;
  priority?: number;
  rescore?: "never" | "each_end" | "each_idle";
  rescore_max?: number;
  sample?: number;
  sample_seed?: string;
  timeout_ms?: number;
}

export interface EvaluatorHealth {
  failures: number;
  last_error: string | null;
  retry_at: string | null;
  since: string | null;
  state: "ok" | "failing" | "open";
}

export interface EvaluatorList {
  evaluators: EvaluatorRow[];
}

export interface EvaluatorRow {
  active_version: string | null;
  archived_at: string | null;
  budget: BudgetAmounts | null;
  builtin: boolean;
  concurrency: number;
  created_at: string | null;
  created_by: string | null;
  description: string;
  enabled: boolean;
  health: HealthRow;
  idle_secs: number | null;
  key: string;
  kind: "push" | "pull" | "sql" | "judge" | "otlp";
  labels: string[];
  last_24h: LastDayRow;
  last_result_at: string | null;
  max_attempts: number;
  month: MonthRow;
  name: string;
  poll_max_secs: number;
  pool: string | null;
  priority: number;
  rescore: "never" | "each_end" | "each_idle";
  rescore_max: number;
  sample: number;
  sample_seed: string;
  secrets: SecretNames;
  timeout_ms: number;
  updated_at: string | null;
}

export type EvaluatorSpec = PushSpec | SqlSpec | JudgeSpec | PullSpec;

export interface EvaluatorUsage {
  cost_usd: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
}

export interface Event {
  agent_id: string;
  agent_version: string | null;
  attributes: Record<string, string>;
  cache_read_tokens: number | null;
  cache_write_1h_tokens: number | null;
  cache_write_tokens: number | null;
  context_fill: number | null;
  context_window: number | null;
  cost_source: string | null;
  cost_usd: number | null;
  environment: string;
  error_type: string | null;
  event_type: string;
  id: number;
  input_tokens: number | null;
  is_error: boolean;
  output_tokens: number | null;
  payload: Record<string, unknown>;
  provider: string | null;
  reasoning_tokens: number | null;
  service_tier: string | null;
  session_id: string;
  tags: string[];
  ts: string;
  user_id: string | null;
}

export interface EventCounts {
  errors?: number;
  events: number;
  sessions?: number;
}

export interface EventDetail {
  agent_id: string;
  agent_version: string | null;
  attributes: Record<string, string>;
  cache_read_tokens: number | null;
  cache_write_1h_tokens: number | null;
  cache_write_tokens: number | null;
  context_fill: number | null;
  context_window: number | null;
  cost: StoredCost | null;
  cost_source: string | null;
  cost_usd: number | null;
  environment: string;
  error_type: string | null;
  event_type: string;
  id: number;
  input_tokens: number | null;
  is_error: boolean;
  output_tokens: number | null;
  payload: Record<string, unknown>;
  provider: string | null;
  reasoning_tokens: number | null;
  service_tier: string | null;
  session_id: string;
  tags: string[];
  ts: string;
  user_id: string | null;
}

export interface EventEvidence {
  bound: number;
  counts: EventCounts;
  event_ids?: number[];
  filter: Record<string, string>;
  groups_more?: number;
  metric: string;
  op: string;
  session_ids?: string[];
  value: number | null;
  window: EvidenceWindow;
}

export interface EventFilter {
  agent_id?: string | null;
  agent_version?: string | null;
  attributes?: Record<string, string> | null;
  environment?: string | null;
  event_type?: string | null;
  model?: string | null;
  tag?: string | null;
  tool_name?: string | null;
  user_id?: string | null;
}

export interface EventLine {
  agent_id: string;
  agent_version: string | null;
  attributes: Record<string, string>;
  audio_input_tokens: number | null;
  audio_output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_1h_tokens: number | null;
  cache_write_tokens: number | null;
  computed_usd: number | null;
  context_fill: number | null;
  context_window: number | null;
  cost_notes: string[];
  cost_source: string | null;
  cost_usd: number | null;
  duration_ms: number | null;
  environment: string;
  error_type: string | null;
  event_type: string;
  hook_id: string | null;
  hook_name: string | null;
  id: number;
  input_id: string | null;
  input_tokens: number | null;
  is_error: boolean;
  model: string | null;
  outcome: string | null;
  output_tokens: number | null;
  parent_id: string | null;
  pause_id: string | null;
  payload: Record<string, unknown>;
  price_id: string | null;
  provider: string | null;
  reasoning_tokens: number | null;
  reported_usd: number | null;
  request_id: string | null;
  service_tier: string | null;
  session_id: string;
  summary: string;
  tags: string[];
  tool_call_id: string | null;
  tool_name: string | null;
  trigger_event: string | null;
  ts: string;
  unpriced_reason: string | null;
  user_id: string | null;
  web_searches: number | null;
}

export interface EventPage {
  events: Event[];
  next_cursor: string | null;
}

export interface EventSummary {
  agent_id: string;
  agent_version: string | null;
  attributes: Record<string, string>;
  cache_read_tokens: number | null;
  cache_write_1h_tokens: number | null;
  cache_write_tokens: number | null;
  context_fill: number | null;
  context_window: number | null;
  cost_source: string | null;
  cost_usd: number | null;
  environment: string;
  error_type: string | null;
  event_type: string;
  id: number;
  input_tokens: number | null;
  is_error: boolean;
  output_tokens: number | null;
  provider: string | null;
  reasoning_tokens: number | null;
  service_tier: string | null;
  session_id: string;
  summary: string;
  tags: string[];
  ts: string;
  user_id: string | null;
}

export interface EventSummaryPage {
  events: EventSummary[];
  next_cursor: string | null;
}

export interface EventWarning {
  did_you_mean: string | null;
  field: string;
  index: number;
  warning: string;
}

export interface EvidenceWindow {
  from: string;
  to: string;
}

export interface ExportFileList {
  files: ExportFileRow[];
  schedule: ExportScheduleRow | null;
}

export interface ExportFileRow {
  bytes: number;
  ends_at: string;
  every: "hourly" | "daily";
  name: string;
  row_count: number;
  rows: "events" | "sessions" | "evaluations";
  starts_at: string;
  writes: number;
  written_at: string;
}

export interface ExportScheduleRow {
  error: string | null;
  every: "hourly" | "daily";
  looked_at: string | null;
  since: string;
}

export interface Exported {
  partialSuccess: PartialSuccess;
}

export interface ExportedEvent {
  event_type: string;
  id: number;
  payload: Record<string, unknown>;
  ts: string;
}

export interface FindingActionBody {
  action: "ack" | "mute" | "dismiss" | "resolve" | "reopen" | "assign" | "acknowledge";
  assigned_to?: string | null;
  reason?: string | null;
}

export interface FindingActionDone {
  action: "ack" | "mute" | "dismiss" | "resolve" | "reopen" | "assign";
  id: string;
  ok: boolean;
  status: "open" | "recurring" | "resolved" | "dismissed" | "muted";
}

export interface FindingEvidence {
  event_ids: number[];
  numbers: Record<string, number>;
  session_ids: string[];
}

export interface FindingQueryRow {
  sql: string;
  title: string;
}

export interface FindingRow {
  assigned_to: string | null;
  audit_id: string;
  audit_name: string;
  category: string;
  description: string;
  effort: string | null;
  evidence: FindingEvidence;
  evidence_queries: FindingQueryRow[];
  expected_impact: string | null;
  failure_type: string;
  fingerprint: string;
  first_seen_at: string;
  id: string;
  issue_id: string | null;
  kind: "failure" | "improvement" | "policy";
  last_seen_at: string;
  magnitude: "small" | "medium" | "big";
  occurrences: number;
  priority: number;
  recommendation: string | null;
  root_cause_hypothesis: string | null;
  scope: FindingScope;
  severity: "info" | "warning" | "critical";
  signal: "error_cluster" | "tool_failure" | "latency_drift" | "error_drift" | "score_drift" | "goal_failure" | "abandoned_session" | "tool_loop" | "context_pressure" | "token_outlier" | "leaked_credential" | "evaluation_gap";
  status: "open" | "recurring" | "resolved" | "dismissed" | "muted";
  title: string;
}

export interface FindingScope {
  agent_ids: string[];
  environments: string[];
  error_types: string[];
  event_types: string[];
  hook_names: string[];
  models: string[];
  tool_names: string[];
}

export interface GrantBody {
  permission_added?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_removed?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_set?: string | null;
}

export interface Health {
  status: "ok";
}

export interface HealthRow {
  failures: number;
  last_error: string | null;
  retry_at: string | null;
  since: string | null;
  state: "ok" | "failing" | "open" | "no_worker" | "stopped";
}

export interface Imported {
  accepted: number;
  dry_run: boolean;
  duplicate: number;
  errors: SkippedLine[];
  events: number;
  first_ts: string | null;
  format: string;
  held_back: number;
  ignored: number;
  last_ts: string | null;
  lines: number;
  replaced: number;
  session_count: number;
  sessions: ImportedSession[];
  skipped: number;
  skipped_sessions: SkippedSession[];
}

export interface ImportedSession {
  accepted: number;
  events: number;
  session_id: string;
}

export interface IncidentCount {
  count: number;
}

export interface IncidentDetail {
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  activity: ActivityRow[];
  alert_description: string | null;
  alert_id: string | null;
  alert_name: string | null;
  alert_severity: "info" | "warning" | "critical";
  assignees: string[];
  breach_summary: string | null;
  breach_value: number | null;
  comments: CommentRow[];
  evidence: IncidentEvidence | null;
  group: Record<string, string | null> | null;
  id: string;
  last_breach_at: string;
  level: number | "forecast" | null;
  notifications: IncidentNotification[];
  opened_at: string;
  resolved_at: string | null;
  resolved_by: string | null;
  source: "alert" | "manual" | "audit";
  source_finding_id: string | null;
  state: "firing" | "acknowledged" | "resolved";
  subscribers: SubscriberRow[];
  title: string;
  trigger_kind: string | null;
}

export type IncidentEvidence = EventEvidence | ScoreEvidence | CompoundEvidence | SqlEvidence | BudgetFacts | AuditEvidence;

export interface IncidentNotification {
  attempts: number;
  channel: "email" | "slack" | "webhook" | "dashboard";
  created_at: string;
  error: string | null;
  event: "alert.firing" | "alert.resolved" | "alert.test";
  id: string;
  status: "queued" | "sent" | "failed" | "skipped";
  target: string;
}

export interface IncidentRow {
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  alert_id: string | null;
  alert_name: string | null;
  alert_severity: "info" | "warning" | "critical";
  assignees: string[];
  breach_summary: string | null;
  breach_value: number | null;
  evidence: IncidentEvidence | null;
  group: Record<string, string | null> | null;
  id: string;
  last_breach_at: string;
  level: number | "forecast" | null;
  opened_at: string;
  resolved_at: string | null;
  resolved_by: string | null;
  source: "alert" | "manual" | "audit";
  source_finding_id: string | null;
  state: "firing" | "acknowledged" | "resolved";
  title: string;
  trigger_kind: string | null;
}

export interface Introspection {
  expires_at: string | null;
  id: string;
  instance_scoped: boolean;
  name: string;
  org_id: string | null;
  org_slug: string | null;
  permissions: string[];
}

export interface InvitationBody {
  email: string;
  permission_added?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_removed?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
  permission_set?: string | null;
  permissions?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface JobList {
  health: EvaluatorHealth;
  jobs: EvaluationJob[];
}

export interface JudgeSpec {
  base_url?: string | null;
  criteria: string;
  instructions?: string | null;
  max_input_tokens?: number;
  max_output_tokens?: number;
  model: string;
  show?: JudgedParts | null;
  usd_per_mtok?: MillionTokenPrices | null;
}

export interface JudgedCondition {
  bound: number;
  count: number;
  holds: boolean | null;
  op: string;
  score_key: string;
  value: number | null;
}

export interface JudgedParts {
  reasoning?: boolean;
  system?: boolean;
  tools?: boolean;
}

export interface KeyBody {
  expires_at?: string | null;
  key: string;
  name: string;
  permission_set?: string | null;
  permissions?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface KeyChangeBody {
  permissions: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface KeyRow {
  created_at: string;
  expires_at: string | null;
  id: string;
  is_protected: boolean;
  last_used_at: string | null;
  name: string;
  permissions: string[];
  revoked_at: string | null;
}

export interface LaidOut {
  updated: number;
}

export interface LastDayRow {
  done: number;
  error: number;
  skipped: number;
  timeout: number;
}

export interface LatencyAggregate {
  bins: LatencyBin[];
  bounds: LatencyBounds;
  distribution: LatencyOfKey[];
  events: LatencyEvents;
  heatmap: LatencyHeatmap;
  summary: LatencyFigures;
  sums: Record<string, number>;
}

export interface LatencyBin {
  count: number;
  error_count: number;
  max: number | null;
  p10: number | null;
  p25: number | null;
  p50: number | null;
  p75: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  ts: string;
}

export interface LatencyBounds {
  bin_ms: number;
  from: string;
  to: string;
}

export interface LatencyCall {
  event_id: number;
  is_error: boolean;
  key: string;
  latency_ms: number;
  session_id: string;
  ts: string;
}

export interface LatencyCalls {
  calls: LatencyCall[];
  total: number;
}

export interface LatencyEvents {
  end: number;
  start: number;
  unpaired_start: number;
}

export interface LatencyFigures {
  count: number;
  error_count: number;
  max: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface LatencyHeatmap {
  counts: number[][];
  edges_ms: number[];
}

export interface LatencyOfKey {
  count: number;
  error_count: number;
  key: string;
  max: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface LayoutBody {
  tiles: PlaceBody[];
}

export interface LimitsToday {
  day: string;
  enforced: boolean;
  events: number;
  key_events_per_sec: number;
  key_requests_per_sec: number;
  org_events_per_day: number;
  refused_by: RefusedBy;
  refused_events: number;
  refused_requests: number;
}

export interface McpMessage {
  error: Record<string, unknown>;
  id: unknown;
  jsonrpc: string;
  result: Record<string, unknown>;
}

export interface Message {
  content: unknown;
  role: "user" | "assistant";
}

export interface MetricKey {
  count: number;
  name: string;
  unit: string;
}

export interface MetricThreshold {
  auto_resolve?: boolean;
  filter?: EventFilter;
  group_by?: string | null;
  metric: "cache_read_token_sum" | "cache_write_token_sum" | "cost_per_session" | "cost_sum" | "error_count" | "error_rate" | "event_count" | "input_token_sum" | "model_call_count" | "output_token_sum" | "p95_latency_ms" | "p99_latency_ms" | "reasoning_token_sum" | "session_count" | "token_sum" | "unpriced_calls";
  op: "<" | "<=" | "==" | ">" | ">=" | "eq" | "gt" | "gte" | "lt" | "lte";
  value: number;
  window_secs: number;
}

export interface MetricThresholdTrigger {
  trigger_kind: "metric_threshold";
  trigger_spec: MetricThreshold;
}

export interface MillionTokenPrices {
  input: number;
  output: number;
}

export interface MonthRow {
  evaluations: number;
  from: string;
  tokens: number;
  usd: number;
}

export interface NewConversationBody {
  title?: string;
}

export interface NewSetBody {
  description?: string;
  name: string;
  permissions: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface NoDetail {

}

export interface OmittedCounts {
  bad_key: number;
  keys_full: number;
  not_scalar: number;
  too_long: number;
  too_many: number;
}

export interface OneEvaluatorState {
  code: "scored" | "error" | "timeout" | "queued" | "calling" | "polling" | "not_ended" | "settling" | "disabled" | "not_for_organization" | "before_evaluator" | "waiting" | "paused" | "no_version" | "not_applicable" | "not_sampled" | "budget_exhausted" | "breaker_open";
  detail: string | null;
  evaluator: string;
  job: EvaluationJob | null;
  latest: Evaluation | null;
  sentence: string;
  since: string | null;
  stale: boolean;
  version: string | null;
}

export interface OpenBody {
  summary: string;
  title?: string | null;
}

export interface OpenSession {
  address: string | null;
  browser: string | null;
  created_at: string;
  expires_at: string;
  id: string;
  is_current: boolean;
  last_used_at: string;
}

export interface OpenedActivity {
  detail: OpenedDetail;
  kind: "opened";
}

export interface OpenedDetail {
  bound?: number;
  metric?: string;
  op?: string;
  source: "alert" | "audit" | "manual";
  summary: string;
  value?: number | null;
}

export interface OpenedRow {
  id: string;
  newly_opened: boolean;
  source: "alert" | "manual" | "audit";
  state: "firing" | "acknowledged" | "resolved";
}

export interface OtelEndpoints {
  grpc: string | null;
  http: string;
}

export interface OtelService {
  content_missing: boolean;
  event_count: number;
  last_received_at: string;
  name: string;
  not_stored: number;
  rejected: number;
  spans: number;
  unmapped: OtelUnmapped[];
}

export interface OtelStatus {
  content_missing: boolean;
  enabled: boolean;
  endpoints: OtelEndpoints;
  events_24h: number;
  last_received_at: string | null;
  services: OtelService[];
  session_conflicts: number;
}

export interface OtelUnmapped {
  attribute: string;
  count: number;
}

export interface Outline {
  agents: OutlineAgent[];
  base_ts: string;
  columns: OutlineColumns;
  names: string[];
  next_cursor: string | null;
  offset: number;
  prev_cursor: string | null;
  session_id: string;
  total: number;
  types: string[];
  watermark: string;
}

export interface OutlineAgent {
  agent_id: string;
  event_count: number;
  parent: number | null;
}

export interface OutlineColumns {
  agent: number[];
  context_fill: (number | null)[];
  cost_usd: (number | null)[];
  duration_ms: (number | null)[];
  error: number[];
  id: number[];
  input_tokens: (number | null)[];
  name: number[];
  output_tokens: (number | null)[];
  pair: number[];
  summary: string[];
  t: number[];
  type: number[];
}

export interface PartialSuccess {
  errorMessage: string;
  rejectedDataPoints: string;
  rejectedLogRecords: string;
  rejectedSpans: string;
}

export interface PerEvent {
  agent_id?: string | null;
  auto_resolve?: boolean;
  environment?: string | null;
  error_type?: string | null;
  event_type: string;
  lookback_secs: number;
  message_contains?: string | null;
  tool_name?: string | null;
}

export interface PerEventTrigger {
  trigger_kind: "per_event";
  trigger_spec: PerEvent;
}

export interface PlaceBody {
  id: string;
  pos_h: number;
  pos_w: number;
  pos_x: number;
  pos_y: number;
}

export interface PoolBody {
  may_define?: boolean | null;
  name: string;
}

export interface PoolList {
  pools: PoolRow[];
}

export interface PoolRow {
  created_at: string;
  created_by: string | null;
  id: string;
  may_define: boolean;
  name: string;
  workers: WorkerRow[];
}

export interface PoolWithToken {
  created_at: string;
  created_by: string | null;
  id: string;
  may_define: boolean;
  name: string;
  token: string;
  workers: WorkerRow[];
}

export type PreviewBody = {
  eval_interval_secs?: number | null;
  eval_window?: number | null;
  from?: string | null;
  min_breaches?: number | null;
  to?: string | null;
} & Trigger;

export interface PreviewBounds {
  from: string;
  step_secs: number;
  to: string;
}

export interface PreviewGroup {
  bound: number | null;
  bounds: PreviewBounds;
  group: Record<string, string | null> | null;
  incidents: PreviewIncident[];
  op: string | null;
  points: PreviewPoint[];
  reason: string | null;
  replayed: boolean;
}

export interface PreviewIncident {
  breaches: number;
  opened_at: string;
  resolved_at: string | null;
}

export interface PreviewPoint {
  breach: boolean | null;
  ts: string;
  value: number | null;
}

export interface PriceBody {
  model: string;
  note?: string | null;
  prices: PricesBody;
  provider?: string | null;
  tiers?: PriceTierBody[] | null;
  valid_from?: string | null;
  variants?: PriceVariantBody[] | null;
}

export interface PriceCondition {
  service_tier?: string;
  utc_time?: string;
}

export interface PricePage {
  builtin: BuiltinTable;
  next_cursor: string | null;
  prices: PriceRow[];
}

export interface PriceRow {
  created_at: string | null;
  created_by: string | null;
  id: string;
  model: string;
  note: string;
  prices: Prices;
  provider: string | null;
  source: "organization" | "builtin";
  tiers: PriceTier[];
  updated_at: string | null;
  valid_from: string | null;
  variants: PriceVariant[];
}

export interface PriceTier {
  above_input_tokens: number;
  prices: SomePrices;
}

export interface PriceTierBody {
  above_input_tokens: number;
  prices: SomePricesBody;
}

export interface PriceVariant {
  factor: number;
  prices: SomePrices;
  tiers: PriceTier[];
  when: PriceCondition;
}

export interface PriceVariantBody {
  factor?: number | string;
  prices?: SomePricesBody;
  tiers?: PriceTierBody[];
  when: PriceCondition;
}

export interface Prices {
  cache_read: number;
  cache_write: number;
  cache_write_1h: number;
  input: number;
  input_audio: number;
  output: number;
  output_audio: number;
  reasoning: number;
  request: number;
  web_search: number;
}

export interface PricesBody {
  cache_read?: number | string;
  cache_write?: number | string;
  cache_write_1h?: number | string;
  input: number | string;
  input_audio?: number | string;
  output: number | string;
  output_audio?: number | string;
  reasoning?: number | string;
  request?: number | string;
  web_search?: number | string;
}

export interface PublishedTables {
  schema: string;
  tables: SchemaTable[];
}

export interface PullSpec {

}

export interface PushSpec {
  headers?: Record<string, string | null>;
  url: string;
}

export interface QueryBody {
  description?: string | null;
  name: string;
  params?: Record<string, unknown>[] | null;
  sql_text: string;
}

export interface QueryList {
  queries: QueryRow[];
}

export interface QueryResult {
  columns: ResultColumn[];
  elapsed_ms: number;
  rows: unknown[][];
  truncated: boolean;
}

export interface QueryRow {
  created_at: string;
  created_by: string | null;
  description: string;
  id: string;
  name: string;
  params: Record<string, unknown>[];
  sql_text: string;
  updated_at: string;
}

export interface Queued {
  job_id: string;
  session_id: string;
  status: "queued";
}

export interface QueuedAuditRun {
  queued: boolean;
  run_id: string;
}

export interface Quote {
  cost_source: "reported" | "computed" | "unpriced" | null;
  cost_usd: number | null;
  lines: QuoteLine[];
  notes: string[];
  price: PriceRow | null;
  unpriced_reason: "no_model" | "no_price" | "no_usage" | "bad_usage" | null;
}

export interface QuoteBody {
  audio_input_tokens?: number | null;
  audio_output_tokens?: number | null;
  cache_read_tokens?: number | null;
  cache_write_1h_tokens?: number | null;
  cache_write_tokens?: number | null;
  cost_currency?: string | null;
  cost_usd?: number | string | null;
  error?: string | Record<string, unknown> | null;
  input_tokens?: number | null;
  model?: string | null;
  model_name?: string | null;
  output_tokens?: number | null;
  provider?: string | null;
  reasoning_tokens?: number | null;
  service_tier?: string | null;
  timestamp?: string | null;
  usage?: Record<string, unknown> | null;
  web_searches?: number | null;
}

export interface QuoteLine {
  class: "input" | "output" | "cache_read" | "cache_write" | "cache_write_1h" | "reasoning" | "input_audio" | "output_audio" | "web_search" | "request";
  cost_usd: number;
  quantity: number;
  rate: number;
}

export interface RangeBody {
  from?: string | null;
  to?: string | null;
}

export interface Ready {
  checks: Checks;
  status: "ok" | "unavailable";
}

export interface Receipt {
  accepted: number;
  bucket_start: string | null;
  dead_lettered: number;
  duplicate: number;
  first_at: string;
  key_id: string | null;
  key_name: string | null;
  lag_ms: ReceiptLag;
  last_at: string;
  machine_id: string | null;
  newest_event_at: string | null;
  not_stored: number;
  reasons: ReceiptReason[];
  refused: number;
  requests: number;
  sender: string;
  service: string | null;
  skipped: number;
  source: "events" | "import" | "otlp_http" | "otlp_grpc";
  warnings: number;
}

export interface ReceiptLag {
  max: number | null;
  p50: number | null;
}

export interface ReceiptPage {
  next_cursor: string | null;
  receipts: Receipt[];
}

export interface ReceiptReason {
  count: number;
  reason: string;
}

export interface Recipient {
  email: string;
}

export interface RefusedBy {
  key_events: number;
  key_requests: number;
  org_events: number;
}

export interface RegeneratedKey {
  created_at: string;
  id: string;
  key: string;
  name: string;
  permissions: string[];
}

export interface RenameBody {
  title: string;
}

export interface RepricedModel {
  after_usd: number;
  before_usd: number;
  calls: number;
  changed: number;
  model: string | null;
}

export interface RepricingBody {
  agent_id?: string | null;
  dry_run?: boolean | null;
  environment?: string | null;
  from: string;
  model?: string | null;
  to: string;
}

export interface RepricingFilter {
  agent_id: string;
  environment: string;
  model: string;
}

export interface RepricingList {
  repricings: RepricingRow[];
}

export interface RepricingProgress {
  calls: number;
  months: number;
  months_done: number;
}

export interface RepricingResult {
  after_usd: number;
  before_usd: number;
  by_model: RepricedModel[];
  calls: number;
  changed: number;
  difference_usd: number;
  newly_priced: number;
  no_longer_priced: number;
}

export interface RepricingRow {
  dry_run: boolean;
  error: string | null;
  filter: RepricingFilter;
  finished_at: string | null;
  from: string;
  id: string;
  progress: RepricingProgress;
  requested_at: string;
  requested_by: string;
  result: RepricingResult | null;
  started_at: string | null;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  to: string;
}

export interface Requested {
  dry_run: boolean;
  queued: number;
  sessions: number;
}

export interface ResolveBody {
  snooze_secs?: number;
}

export interface ResolvedActivity {
  detail: NoDetail;
  kind: "resolved";
}

export interface ResolvedPrice {
  notes: string[];
  price: PriceRow | null;
  rates: SomePrices;
  source: "organization" | "builtin" | "unknown";
}

export interface ResolvedWindow {
  context_window: number | null;
  model_id: string;
  source: "override" | "default" | "unknown";
}

export interface ResultColumn {
  name: string;
  type: string;
}

export interface ResultDeclaration {
  key: string;
  kind: "assertion" | "category" | "number" | "score" | "text";
  lower_is_better?: boolean;
  max?: number | null;
  min?: number | null;
  options?: CategoryOption[];
  pass_at?: number | null;
  title?: string | null;
  unit?: string | null;
}

export type ResultDeclarations = ResultDeclaration;

export interface RowCounts {
  rows: number;
  truncated: boolean;
}

export interface RunBody {
  params?: unknown[] | null;
  query_id?: string | null;
  sql?: string | null;
}

export interface SchemaColumn {
  name: string;
  type: string;
}

export interface SchemaTable {
  columns: SchemaColumn[];
  name: string;
}

export interface ScoreCondition {
  op: "<" | "<=" | "==" | ">" | ">=" | "eq" | "gt" | "gte" | "lt" | "lte";
  score_key: string;
  value: number;
}

export interface ScoreEvidence {
  bound: number;
  counts: EvaluationCounts;
  evaluation_ids?: string[];
  filter: Record<string, string>;
  metric: string;
  op: string;
  score_key: string;
  session_ids?: string[];
  value: number | null;
  window: EvidenceWindow;
}

export interface ScoreHistogram {
  counts: number[];
  key: string;
  max: number;
  min: number;
}

export interface ScoreSeries {
  agent_id: string;
  agg: "avg" | "min" | "max" | "p50" | "p75" | "p90" | "p95" | "p99" | "stddev";
  environment: string;
  key: string;
  points: SeriesPoint[];
}

export interface ScoreStats {
  avg: number;
  count: number;
  key: string;
  max: number;
  min: number;
  p50: number;
}

export interface SecretNames {
  api_key: boolean;
  headers: string[];
  token: boolean;
}

export interface SecretsBody {
  api_key?: string | null;
  headers?: Record<string, string | null> | null;
  token?: string | null;
}

export interface SeriesPoint {
  ts: string;
  value: number | null;
}

export interface Session {
  agent_id: string;
  agent_version: string | null;
  agents: SessionAgent[];
  attributes: Record<string, string>;
  cache_read_tokens: number;
  cache_write_1h_tokens: number;
  cache_write_tokens: number;
  computed_usd: number | null;
  cost_usd: number | null;
  ended_at: string | null;
  environment: string;
  error_count: number;
  event_count: number;
  failed: boolean;
  first_event_id: number;
  input_tokens: number;
  last_event_at: string;
  last_event_id: number;
  latest_evaluation: Evaluation | null;
  model_calls: number;
  outcome: string | null;
  output_tokens: number;
  reasoning_tokens: number;
  reported_usd: number | null;
  session_id: string;
  started_at: string;
  tags: string[];
  unpriced_calls: number;
  user_id: string | null;
}

export interface SessionAgent {
  agent_id: string;
  event_count: number;
}

export interface SessionCosts {
  agent_id: string;
  assumed_calls: number;
  cache_read_tokens: number;
  cache_write_1h_tokens: number;
  cache_write_tokens: number;
  calls: number;
  computed_usd: number;
  cost_usd: number | null;
  difference_usd: number;
  input_tokens: number;
  model: string | null;
  output_tokens: number;
  provider: string | null;
  reasoning_tokens: number;
  reported_usd: number;
  sessions: number;
  unpriced_calls: number;
}

export interface SessionDetail {
  agent_id: string;
  agent_version: string | null;
  agents: SessionAgent[];
  attributes: Record<string, string>;
  cache_read_tokens: number;
  cache_write_1h_tokens: number;
  cache_write_tokens: number;
  computed_usd: number | null;
  cost_usd: number | null;
  costs: SessionCosts[];
  ended_at: string | null;
  environment: string;
  error_count: number;
  evaluation_state: EvaluationState;
  evaluation_states: OneEvaluatorState[];
  event_count: number;
  failed: boolean;
  first_event_id: number;
  input_tokens: number;
  last_event_at: string;
  last_event_id: number;
  latest_evaluation: Evaluation | null;
  model_calls: number;
  outcome: string | null;
  output_tokens: number;
  reasoning_tokens: number;
  reported_usd: number | null;
  session_id: string;
  started_at: string;
  tags: string[];
  unpriced_calls: number;
  user_id: string | null;
}

export interface SessionLine {
  agent_id: string;
  agent_version: string | null;
  agents: SessionAgent[];
  attributes: Record<string, string>;
  cache_read_tokens: number;
  cache_write_1h_tokens: number;
  cache_write_tokens: number;
  computed_usd: number | null;
  cost_usd: number | null;
  ended_at: string | null;
  environment: string;
  error_count: number;
  event_count: number;
  first_event_id: number;
  input_tokens: number;
  last_event_at: string;
  last_event_id: number;
  model_calls: number;
  output_tokens: number;
  reasoning_tokens: number;
  reported_usd: number | null;
  session_id: string;
  started_at: string;
  tags: string[];
  unpriced_calls: number;
  user_id: string | null;
}

export interface SessionMembership {
  feature_flags: string[];
  is_pending: boolean;
  org_id: string;
  org_name: string;
  org_slug: string;
  permission_set: string | null;
  permissions: string[];
}

export interface SessionPage {
  next_cursor: string | null;
  sessions: Session[];
}

export interface SessionPoint {
  cost_usd: number | null;
  error_count: number;
  score_avg: number | null;
  sessions: number;
  tokens: number;
  ts: string;
}

export interface SessionScore {
  avg: number | null;
  count: number;
  key: string;
}

export interface SessionTimeline {
  bucket_secs: number;
  bucket_unit: "minute" | "5m" | "15m" | "hour" | "6h" | "day" | "week";
  points: SessionPoint[];
}

export interface SessionTotals {
  cost_usd: number | null;
  error_count: number;
  event_count: number;
  input_tokens: number;
  model_calls: number;
  output_tokens: number;
  priced_sessions: number;
  score: SessionScore | null;
  sessions: number;
  timeline: SessionTimeline;
  unpriced_calls: number;
}

export interface SessionTurn {
  agent_id: string;
  cut: number;
  event_ids: number[];
  n: number;
  role: "goal" | "system" | "user" | "assistant" | "tool" | "hook" | "error" | "end";
  text: string;
  tool: TurnTool | null;
  ts: string;
}

export interface SessionTurns {
  next_cursor: string | null;
  session_id: string;
  total: number;
  turns: SessionTurn[];
}

export interface SetBody {
  description?: string;
  permissions?: ("agent:use" | "alerts:read" | "alerts:write" | "audits:read" | "audits:write" | "dashboards:delete" | "dashboards:read" | "dashboards:write" | "evaluations:read" | "evaluations:trigger" | "events:add" | "events:delete" | "events:read" | "incidents:ack" | "incidents:read" | "incidents:write" | "keys:create" | "keys:disable" | "keys:read" | "keys:regenerate" | "keys:update" | "orgs:admin" | "queries:delete" | "queries:read" | "queries:run" | "queries:write" | "settings:read" | "settings:write" | "users:create" | "users:delete" | "users:read" | "users:update")[];
}

export interface SetRow {
  description: string;
  is_builtin: boolean;
  name: string;
  permissions: string[];
  user_count: number;
}

export interface SettingBody {
  value: boolean | string | number | string[] | null;
}

export interface SettingEntry {
  default: boolean | string | number | string[];
  description: string;
  key: string;
  kind: string;
  max: number | null;
  min: number | null;
  options: string[] | null;
  title: string;
  unit: string | null;
}

export interface SettingEntryList {
  settings: SettingEntry[];
}

export interface SettingList {
  settings: SettingRow[];
}

export interface SettingRow {
  key: string;
  note: string | null;
  schema: SettingEntry;
  scope: "org";
  updated_at: string | null;
  updated_by: string | null;
  value: boolean | string | number | string[];
  value_set: boolean;
}

export interface SignInSession {
  email: string;
  id: string;
  is_instance_admin: boolean;
  memberships: SessionMembership[];
}

export interface SignedIn {
  expires_in_secs: number;
  user: SignedInUser;
}

export interface SignedInUser {
  email: string;
  id: string;
}

export interface SignedOut {
  ok: boolean;
}

export interface SkippedLine {
  error: string;
  line: number;
}

export interface SkippedPage {
  next_cursor: string | null;
  skipped: SkippedRow[];
}

export interface SkippedRow {
  at: string;
  excerpt: string;
  key_id: string | null;
  reason: string;
  sender: string;
  service: string | null;
  source: "events" | "import" | "otlp_http" | "otlp_grpc";
  where: string;
}

export interface SkippedSession {
  reason: string;
  session_id: string;
}

export interface SlackChannel {
  kind: "slack";
  webhook_setting_key?: string | null;
}

export interface SomePrices {
  cache_read: number;
  cache_write: number;
  cache_write_1h: number;
  input: number;
  input_audio: number;
  output: number;
  output_audio: number;
  reasoning: number;
  request: number;
  web_search: number;
}

export interface SomePricesBody {
  cache_read?: number | string;
  cache_write?: number | string;
  cache_write_1h?: number | string;
  input?: number | string;
  input_audio?: number | string;
  output?: number | string;
  output_audio?: number | string;
  reasoning?: number | string;
  request?: number | string;
  web_search?: number | string;
}

export interface SqlEvidence {
  bound: number;
  columns: string[];
  counts: RowCounts;
  metric: string;
  op: string;
  rows: unknown[][];
  value: number | null;
}

export interface SqlSpec {
  sql: string;
}

export interface StandaloneBody {
  severity?: "info" | "warning" | "critical";
  summary: string;
  title?: string | null;
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

export interface StoredCost {
  computed_usd: number | null;
  cost_source: "reported" | "computed" | "unpriced";
  cost_usd: number | null;
  lines: QuoteLine[];
  notes: string[];
  price: PriceRow | null;
  reported_usd: number | null;
  unpriced_reason: "no_model" | "no_price" | "no_usage" | "bad_usage" | null;
}

export interface SubscribedActivity {
  detail: SubscriptionDetail;
  kind: "subscribed";
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

export interface SubscriptionDetail {
  email: string;
}

export interface SubscriptionRow {
  email: string;
  subscribed: boolean;
}

export interface TestedDelivery {
  channel: string;
  error: string | null;
  status: "queued" | "sent" | "failed" | "skipped";
  target: string;
}

export interface TileBody {
  chart_config?: Record<string, unknown> | null;
  chart_type: "line" | "area" | "bar" | "stacked_bar" | "pie" | "kpi" | "table";
  param_bindings?: Record<string, unknown> | null;
  pos_h?: number | null;
  pos_w?: number | null;
  pos_x?: number | null;
  pos_y?: number | null;
  query_id: string;
  title?: string | null;
}

export interface TileList {
  tiles: TileRow[];
}

export interface TileRow {
  chart_config: Record<string, unknown>;
  chart_type: "line" | "area" | "bar" | "stacked_bar" | "pie" | "kpi" | "table";
  created_at: string;
  dashboard_id: string;
  id: string;
  param_bindings: Record<string, unknown>;
  pos_h: number;
  pos_w: number;
  pos_x: number;
  pos_y: number;
  query_id: string;
  title: string;
  updated_at: string;
}

export interface Timeline {
  bucket_secs: number;
  bucket_unit: "minute" | "5m" | "15m" | "hour" | "6h" | "day" | "week";
  points: TimelinePoint[];
}

export interface TimelinePoint {
  done: number;
  error: number;
  scores: Record<string, number>;
  timeout: number;
  total: number;
  ts: string;
}

export type Trigger = MetricThresholdTrigger | CustomSqlTrigger | EvaluationScoreTrigger | EvalCompoundTrigger | PerEventTrigger | BudgetTrigger;

export interface TurnBody {
  conversationId?: string | null;
  messages: TurnMessage[];
  model?: string | null;
  pageActions?: string[] | null;
  pageContext?: unknown;
}

export interface TurnContent {
  text: string;
}

export interface TurnFrame {
  action: string;
  artifact: Record<string, unknown>;
  callId: string;
  input: unknown;
  message: string;
  ms: number;
  ok: boolean;
  question: string;
  rows: number;
  text: string;
  tool: string;
  type: "text-delta" | "tool-start" | "tool-end" | "ask-user" | "ui-action" | "error" | "done";
  usage: Record<string, unknown>;
}

export interface TurnMessage {
  content: TurnContent;
  role: "user" | "assistant";
}

export interface TurnTool {
  call_id: string;
  duration_ms: number | null;
  failed: boolean;
  input: string;
  name: string;
  output: string;
}

export interface UnpricedModel {
  calls: number;
  example: CallExample;
  first_at: string;
  input_tokens: number;
  last_at: string;
  model: string | null;
  output_tokens: number;
  provider: string | null;
  reason: "no_model" | "no_price" | "no_usage" | "bad_usage";
  service_tier: string | null;
  share_of_calls: number;
  share_of_tokens: number;
}

export interface UnpricedModels {
  models: UnpricedModel[];
  total: UnpricedTotal;
}

export interface UnpricedTotal {
  calls: number;
  share_of_calls: number;
  share_of_tokens: number;
  unpriced_calls: number;
}

export interface UnsubscribedActivity {
  detail: SubscriptionDetail;
  kind: "unsubscribed";
}

export interface Usage {
  billing_anchor: string;
  calculated_at: string;
  limits: LimitsToday | null;
  org_id: string;
  stale_after: string;
  usage: UsageCounters;
  window: BillingWindow;
}

export interface UsageCounters {
  agents: number;
  alerts_created: number;
  assistant_tokens: number;
  assistant_turns: number;
  audit_runs: number;
  dashboards_created: number;
  environments: number;
  evaluation_runs: number;
  evaluations: number;
  events_ingested: number;
  incidents_opened: number;
  keys_active: number;
  queries_created: number;
  sessions: number;
  users_active: number;
}

export interface UsageOfWindow {
  evaluations: number;
  events_ingested: number;
  from: string;
  to: string;
}

export interface UsageWindows {
  windows: UsageOfWindow[];
}

export interface UserDefaults {
  permission_set: string;
  permissions: string[];
}

export interface UserRow {
  created_at: string;
  disabled_at: string | null;
  email: string;
  id: string;
  is_protected: boolean;
  permission_added: string[];
  permission_removed: string[];
  permission_set: string | null;
  permissions: string[];
  updated_at: string;
}

export interface VersionBody {
  activate?: boolean | null;
  condition?: Record<string, unknown> | null;
  large?: "cut" | "turns" | "pages" | "error";
  note?: string | null;
  results?: ResultDeclarations[] | null;
  spec?: EvaluatorSpec | null;
  version?: string | null;
}

export interface VersionList {
  versions: VersionRow[];
}

export interface VersionRow {
  active: boolean;
  checksum: string;
  condition: Record<string, unknown> | null;
  evaluations: number;
  evaluator: string;
  first_result_at: string | null;
  large: "cut" | "turns" | "pages" | "error";
  last_result_at: string | null;
  note: string;
  number: number;
  published_at: string;
  published_by: string | null;
  results: ResultDeclarations[];
  spec: EvaluatorSpec;
  version: string;
}

export interface WebhookChannel {
  kind: "webhook";
  secret_setting_key?: string | null;
  url_setting_key?: string | null;
}

export interface WindowBody {
  context_window: number;
  model_id: string;
}

export interface WindowList {
  model_context_windows: WindowRow[];
}

export interface WindowRow {
  context_window: number;
  model_id: string;
  updated_at: string;
}

export interface WorkerRow {
  concurrency: number;
  definitions: unknown[];
  last_seen_at: string;
  leased: number;
  sdk: string;
  worker_id: string;
}

export interface _Again {
  agent_id?: string;
  agent_version?: string;
  attr?: Record<string, string>;
  dry_run?: boolean | null;
  environment?: string;
  evaluator?: string;
  evaluator_version?: string;
  latest_per_session?: boolean;
  missing?: string;
  score_filters?: string;
  session_id?: string;
  status?: string;
  tag?: string;
  time?: "completion" | "session";
  ts_from?: string | null;
  ts_to?: string | null;
  user_id?: string;
}

export interface Routes {
  "GET /access-granters": { answer: AccessGranter[] };
  "POST /agent/chat": { body: TurnBody; answer: TurnFrame };
  "GET /agent/conversations": { query: { "cursor"?: string; "limit"?: number }; answer: ConversationList };
  "POST /agent/conversations": { body: NewConversationBody; answer: ConversationRow };
  "GET /agent/conversations/{conversation_id}": { path: { "conversation_id": string }; answer: ConversationDetail };
  "PATCH /agent/conversations/{conversation_id}": { path: { "conversation_id": string }; body: RenameBody; answer: ConversationRow };
  "DELETE /agent/conversations/{conversation_id}": { path: { "conversation_id": string }; answer: null };
  "PUT /agent/conversations/{conversation_id}/messages": { path: { "conversation_id": string }; body: { messages: ({ content: unknown; role: "user" | "assistant"; })[]; }; answer: ConversationRow };
  "GET /agent/health": { answer: AssistantHealth };
  "GET /alerts": { answer: AlertRow[] };
  "POST /alerts": { body: AlertBody; answer: AlertRow };
  "GET /alerts/incidents": { query: { "state"?: string; "alert_id"?: string; "resolved_since"?: string; "limit"?: number }; answer: IncidentRow[] };
  "POST /alerts/incidents": { body: StandaloneBody; answer: OpenedRow };
  "GET /alerts/incidents/count": { query: { "state"?: string; "alert_id"?: string; "resolved_since"?: string }; answer: IncidentCount };
  "GET /alerts/incidents/{incident_id}": { path: { "incident_id": string }; answer: IncidentDetail };
  "POST /alerts/incidents/{incident_id}/ack": { path: { "incident_id": string }; answer: IncidentRow };
  "POST /alerts/incidents/{incident_id}/assign": { path: { "incident_id": string }; body: AssignBody; answer: IncidentRow };
  "GET /alerts/incidents/{incident_id}/comments": { path: { "incident_id": string }; answer: CommentRow[] };
  "POST /alerts/incidents/{incident_id}/comments": { path: { "incident_id": string }; body: CommentBody; answer: CommentRow };
  "DELETE /alerts/incidents/{incident_id}/comments/{comment_id}": { path: { "incident_id": string; "comment_id": string }; answer: null };
  "POST /alerts/incidents/{incident_id}/resolve": { path: { "incident_id": string }; body: ResolveBody; answer: IncidentRow };
  "POST /alerts/incidents/{incident_id}/send-again": { path: { "incident_id": string }; answer: IncidentNotification[] };
  "POST /alerts/incidents/{incident_id}/subscribe": { path: { "incident_id": string }; body: SubscriptionBody; answer: SubscriptionRow };
  "GET /alerts/incidents/{incident_id}/subscribers": { path: { "incident_id": string }; answer: SubscriberRow[] };
  "POST /alerts/incidents/{incident_id}/unsubscribe": { path: { "incident_id": string }; body: SubscriptionBody; answer: SubscriptionRow };
  "GET /alerts/incidents/{incident_id}/values": { path: { "incident_id": string }; answer: AlertPreview };
  "POST /alerts/preview": { body: PreviewBody; answer: AlertPreview };
  "GET /alerts/recipients": { answer: Recipient[] };
  "GET /alerts/{alert_id}": { path: { "alert_id": string }; answer: AlertRow };
  "PUT /alerts/{alert_id}": { path: { "alert_id": string }; body: AlertBody; answer: AlertRow };
  "DELETE /alerts/{alert_id}": { path: { "alert_id": string }; answer: null };
  "GET /alerts/{alert_id}/incidents": { path: { "alert_id": string }; query: { "state"?: string; "limit"?: number }; answer: IncidentRow[] };
  "POST /alerts/{alert_id}/incidents": { path: { "alert_id": string }; body: OpenBody; answer: OpenedRow };
  "POST /alerts/{alert_id}/test": { path: { "alert_id": string }; body: DeliveryTestBody; answer: DeliveryTest };
  "GET /audit-log": { query: { "ts_from"?: string; "ts_to"?: string; "noun"?: string; "action"?: string; "actor"?: string; "way"?: string; "target_id"?: string; "cursor"?: string; "limit"?: number }; answer: AuditLogPage };
  "GET /audit-log/export": { query: { "ts_from"?: string; "ts_to"?: string; "noun"?: string; "action"?: string; "actor"?: string; "way"?: string; "target_id"?: string }; answer: AuditLogLine };
  "GET /audits": { answer: AuditRow[] };
  "POST /audits": { body: AuditBody; answer: AuditRow };
  "GET /audits/findings": { query: { "status"?: string; "audit_id"?: string; "run_id"?: string; "limit"?: number; "offset"?: number }; answer: FindingRow[] };
  "GET /audits/findings/{fid}": { path: { "fid": string }; answer: FindingRow };
  "POST /audits/findings/{fid}/status": { path: { "fid": string }; body: FindingActionBody; answer: FindingActionDone };
  "GET /audits/{audit_id}": { path: { "audit_id": string }; answer: AuditRow };
  "PUT /audits/{audit_id}": { path: { "audit_id": string }; body: AuditBody; answer: AuditRow };
  "DELETE /audits/{audit_id}": { path: { "audit_id": string }; answer: null };
  "GET /audits/{audit_id}/context": { path: { "audit_id": string }; answer: AuditContext };
  "PUT /audits/{audit_id}/context": { path: { "audit_id": string }; body: AuditContextBody; answer: AuditContext };
  "POST /audits/{audit_id}/run": { path: { "audit_id": string }; answer: QueuedAuditRun };
  "GET /audits/{audit_id}/runs": { path: { "audit_id": string }; query: { "limit"?: number; "offset"?: number }; answer: AuditRunRow[] };
  "GET /auth/introspect": { answer: Introspection };
  "POST /auth/logout": { answer: SignedOut };
  "POST /auth/otp/request": { body: CodeRequestBody; answer: CodeRequested };
  "POST /auth/otp/verify": { body: CodeBody; answer: SignedIn };
  "GET /auth/session": { answer: SignInSession };
  "GET /auth/sessions": { answer: OpenSession[] };
  "DELETE /auth/sessions": { answer: EndedSessions };
  "DELETE /auth/sessions/{session_id}": { path: { "session_id": string }; answer: EndedSessions };
  "GET /budgets": { answer: Budgets };
  "GET /costs": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "group_by"?: string; "bucket"?: "none" | "hour" | "day" | "week" | "month"; "tz"?: string; "sort"?: "cost" | "tokens" | "calls"; "cursor"?: string; "limit"?: number }; answer: Costs };
  "GET /costs/repricings": { query: { "limit"?: number }; answer: RepricingList };
  "POST /costs/repricings": { body: RepricingBody; answer: RepricingRow };
  "GET /costs/repricings/{repricing_id}": { path: { "repricing_id": string }; answer: RepricingRow };
  "POST /costs/repricings/{repricing_id}/cancel": { path: { "repricing_id": string }; answer: RepricingRow };
  "GET /costs/unpriced": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string }; answer: UnpricedModels };
  "GET /dashboards": { answer: DashboardList };
  "POST /dashboards": { body: DashboardBody; answer: DashboardRow };
  "GET /dashboards/{dashboard_id}": { path: { "dashboard_id": string }; answer: DashboardDetail };
  "PUT /dashboards/{dashboard_id}": { path: { "dashboard_id": string }; body: DashboardBody; answer: DashboardRow };
  "DELETE /dashboards/{dashboard_id}": { path: { "dashboard_id": string }; answer: DeletedDashboard };
  "GET /dashboards/{dashboard_id}/tiles": { path: { "dashboard_id": string }; answer: TileList };
  "POST /dashboards/{dashboard_id}/tiles": { path: { "dashboard_id": string }; body: TileBody; answer: TileRow };
  "PUT /dashboards/{dashboard_id}/tiles/layout": { path: { "dashboard_id": string }; body: LayoutBody; answer: LaidOut };
  "PUT /dashboards/{dashboard_id}/tiles/{tile_id}": { path: { "dashboard_id": string; "tile_id": string }; body: TileBody; answer: TileRow };
  "DELETE /dashboards/{dashboard_id}/tiles/{tile_id}": { path: { "dashboard_id": string; "tile_id": string }; answer: DeletedDashboard };
  "POST /dashboards/{dashboard_id}/tiles/{tile_id}/run": { path: { "dashboard_id": string; "tile_id": string }; body: RangeBody; answer: QueryResult };
  "GET /deletions": { query: { "limit"?: number; "offset"?: number }; answer: DeletionList };
  "POST /deletions": { body: DeletionBody; answer: DeletionRow };
  "POST /deletions/preview": { body: DeletionBody; answer: DeletionPreview };
  "GET /deletions/{deletion_id}": { path: { "deletion_id": string }; answer: DeletionDetail };
  "GET /dimensions": { answer: Dimensions };
  "GET /dimensions/values": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "metric_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "model"?: string; "provider"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "field"?: string; "q"?: string; "limit"?: number }; answer: DimensionValues };
  "GET /evaluation-jobs": { query: { "status"?: string; "session_id"?: string; "health"?: boolean; "limit"?: number }; answer: JobList };
  "GET /evaluations": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "evaluator"?: string; "evaluator_version"?: string; "score_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "time"?: "completion" | "session"; "latest_per_session"?: boolean; "as"?: "sql"; "lowest"?: string; "cursor"?: string; "limit"?: number }; answer: EvaluationPage };
  "GET /evaluations/aggregate": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "evaluator"?: string; "evaluator_version"?: string; "score_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "time"?: "completion" | "session"; "latest_per_session"?: boolean; "as"?: "sql"; "featured_keys"?: string; "bucket"?: "minute" | "5m" | "15m" | "hour" | "6h" | "day" | "week" | "auto"; "series"?: string; "histogram"?: number }; answer: EvaluationAggregate };
  "GET /evaluations/environments": { answer: string[] };
  "GET /evaluations/metric_keys": { answer: MetricKey[] };
  "POST /evaluations/re-evaluate": { body: _Again; answer: Requested };
  "GET /evaluations/score_keys": { answer: string[] };
  "GET /evaluator-pools": { answer: PoolList };
  "POST /evaluator-pools": { body: PoolBody; answer: PoolWithToken };
  "DELETE /evaluator-pools/{pool_id}": { path: { "pool_id": string }; answer: null };
  "POST /evaluator-pools/{pool_id}/token": { path: { "pool_id": string }; answer: PoolWithToken };
  "GET /evaluators": { query: { "archived"?: boolean }; answer: EvaluatorList };
  "POST /evaluators": { body: EvaluatorBody; answer: EvaluatorRow };
  "GET /evaluators/{key}": { path: { "key": string }; answer: EvaluatorRow };
  "PUT /evaluators/{key}": { path: { "key": string }; body: EvaluatorChangeBody; answer: EvaluatorRow };
  "DELETE /evaluators/{key}": { path: { "key": string }; answer: null };
  "PUT /evaluators/{key}/active": { path: { "key": string }; body: ActiveVersionBody; answer: EvaluatorRow };
  "PUT /evaluators/{key}/secrets": { path: { "key": string }; body: SecretsBody; answer: ChangedSecrets };
  "GET /evaluators/{key}/versions": { path: { "key": string }; answer: VersionList };
  "POST /evaluators/{key}/versions": { path: { "key": string }; body: VersionBody; answer: VersionRow };
  "GET /evaluators/{key}/versions/{version}": { path: { "key": string; "version": string }; answer: VersionRow };
  "GET /events": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "order"?: "asc" | "desc"; "cursor"?: string; "limit"?: number }; answer: EventPage };
  "POST /events": { body: { agent_id?: string; environment?: string; session_id: string; timestamp: string; type: string; }[] | { events: { agent_id?: string; environment?: string; session_id: string; timestamp: string; type: string; }[]; }; answer: Accepted };
  "GET /events/agent_ids": { answer: string[] };
  "GET /events/environments": { answer: string[] };
  "GET /events/error_summary": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "group_by"?: "error_type" | "tool_name" | "agent_id" | "user_id" | "agent_version" | "model" | "message" }; answer: ErrorSummary };
  "GET /events/error_types": { answer: string[] };
  "GET /events/event_types": { answer: string[] };
  "GET /events/hook_names": { answer: string[] };
  "POST /events/import": { query: { "format"?: "auto" | "agenteye" | "atif" | "otlp" | "claude" | "codex" | "failproofai"; "path"?: string; "environment"?: string; "dry_run"?: boolean; "replace"?: boolean; "existing_before"?: number; "started_at"?: string; "user_id"?: string; "agent_version"?: string; "tags"?: string; "attr"?: Record<string, string> }; body: string; answer: Imported };
  "GET /events/latency_aggregate": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "start_event_type"?: string; "end_event_type"?: string; "outcome"?: "success" | "error" | "all"; "pair_key_paths"?: string; "distribution_key_paths"?: string; "payload_contains"?: string; "as"?: "sql"; "bin_count"?: number; "payload_sum_paths"?: string; "distribution_limit"?: number; "distribution_order"?: "count" | "error_count" | "p50" | "p95" | "p99" | "max" }; answer: LatencyAggregate };
  "GET /events/latency_calls": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "start_event_type"?: string; "end_event_type"?: string; "outcome"?: "success" | "error" | "all"; "pair_key_paths"?: string; "distribution_key_paths"?: string; "payload_contains"?: string; "latency_from"?: number; "latency_to"?: number; "limit"?: number }; answer: LatencyCalls };
  "GET /events/models": { answer: string[] };
  "GET /events/summary": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "order"?: "asc" | "desc"; "cursor"?: string; "limit"?: number }; answer: EventSummaryPage };
  "GET /events/tool_names": { answer: string[] };
  "GET /events/trigger_events": { answer: string[] };
  "GET /exports/evaluations": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "evaluator"?: string; "evaluator_version"?: string; "score_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "time"?: "completion" | "session"; "latest_per_session"?: boolean; "format"?: "ndjson" | "parquet" }; answer: EvaluationLine };
  "GET /exports/events": { query: { "session_id"?: string; "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "format"?: "ndjson" | "parquet" }; answer: EventLine };
  "GET /exports/files": { query: { "limit"?: number; "offset"?: number }; answer: ExportFileList };
  "GET /exports/sessions": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "metric_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "model"?: string; "provider"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "format"?: "ndjson" | "parquet" }; answer: SessionLine };
  "GET /health": { answer: Health };
  "GET /keys": { answer: KeyRow[] };
  "POST /keys": { body: KeyBody; answer: KeyRow };
  "PATCH /keys/{key_id}": { path: { "key_id": string }; body: KeyChangeBody; answer: KeyRow };
  "POST /keys/{key_id}/disable": { path: { "key_id": string }; answer: KeyRow };
  "POST /keys/{key_id}/regenerate": { path: { "key_id": string }; answer: RegeneratedKey };
  "POST /logs": { body: { resourceLogs?: Record<string, unknown>[]; }; answer: Exported };
  "POST /mcp": { body: Record<string, unknown>; answer: McpMessage };
  "POST /metrics": { body: { resourceMetrics?: Record<string, unknown>[]; }; answer: Exported };
  "GET /openapi.json": { answer: Record<string, unknown> };
  "GET /otel/status": { answer: OtelStatus };
  "GET /permission-sets": { answer: SetRow[] };
  "POST /permission-sets": { body: NewSetBody; answer: SetRow };
  "GET /permission-sets/{name}": { path: { "name": string }; answer: SetRow };
  "PUT /permission-sets/{name}": { path: { "name": string }; body: SetBody; answer: SetRow };
  "DELETE /permission-sets/{name}": { path: { "name": string }; answer: DeletedSet };
  "GET /prices": { query: { "source"?: "organization" | "builtin" | "all"; "model"?: string; "cursor"?: string; "limit"?: number }; answer: PricePage };
  "POST /prices": { body: PriceBody; answer: PriceRow };
  "POST /prices/quote": { body: QuoteBody; answer: Quote };
  "GET /prices/resolve": { query: { "model"?: string; "provider"?: string; "service_tier"?: string; "input_tokens"?: number; "at"?: string }; answer: ResolvedPrice };
  "PUT /prices/{price_id}": { path: { "price_id": string }; body: PriceBody; answer: PriceRow };
  "DELETE /prices/{price_id}": { path: { "price_id": string }; answer: null };
  "GET /queries": { answer: QueryList };
  "POST /queries": { body: QueryBody; answer: QueryRow };
  "POST /queries/run": { body: RunBody; answer: QueryResult };
  "GET /queries/schema": { answer: PublishedTables };
  "GET /queries/{query_id}": { path: { "query_id": string }; answer: QueryRow };
  "PUT /queries/{query_id}": { path: { "query_id": string }; body: QueryBody; answer: QueryRow };
  "DELETE /queries/{query_id}": { path: { "query_id": string }; answer: DeletedQuery };
  "GET /ready": { answer: Ready };
  "GET /receipts": { query: { "ts_from"?: string; "ts_to"?: string; "source"?: "events" | "import" | "otlp_http" | "otlp_grpc"; "key_id"?: string; "service"?: string; "bucket"?: "none" | "hour" | "day"; "cursor"?: string; "limit"?: number }; answer: ReceiptPage };
  "GET /receipts/skipped": { query: { "source"?: "events" | "import" | "otlp_http" | "otlp_grpc"; "key_id"?: string; "cursor"?: string; "limit"?: number }; answer: SkippedPage };
  "GET /sessions": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "metric_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "model"?: string; "provider"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "sort"?: string; "order"?: "asc" | "desc"; "cursor"?: string; "limit"?: number }; answer: SessionPage };
  "GET /sessions/totals": { query: { "session_id"?: string; "agent_id"?: string; "environment"?: string; "status"?: string; "score_filters"?: string; "metric_filters"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "model"?: string; "provider"?: string; "attr"?: Record<string, string>; "missing"?: string; "ts_from"?: string; "ts_to"?: string; "score_key"?: string }; answer: SessionTotals };
  "GET /sessions/{session_id}": { path: { "session_id": string }; answer: SessionDetail };
  "GET /sessions/{session_id}/events/{event_id}": { path: { "session_id": string; "event_id": number }; answer: EventDetail };
  "GET /sessions/{session_id}/export": { path: { "session_id": string }; query: { "format"?: "jsonl" | "array" | "json" }; answer: EvalRequest | ExportedEvent[] };
  "GET /sessions/{session_id}/outline": { path: { "session_id": string }; query: { "agent_id"?: string; "event_type"?: string; "environment"?: string; "error_type"?: string; "tool_name"?: string; "hook_name"?: string; "trigger_event"?: string; "model"?: string; "provider"?: string; "service_tier"?: string; "cost_source"?: string; "user_id"?: string; "agent_version"?: string; "tag"?: string; "attr"?: Record<string, string>; "missing"?: string; "event_id"?: string; "errored"?: boolean; "search"?: string[]; "search_exclude"?: string; "ts_from"?: string; "ts_to"?: string; "as"?: "sql"; "columns"?: "id"; "limit"?: number; "cursor"?: string; "around"?: number; "since"?: string }; answer: Outline };
  "POST /sessions/{session_id}/re-evaluate": { path: { "session_id": string }; answer: Queued };
  "GET /sessions/{session_id}/turns": { path: { "session_id": string }; query: { "max_text"?: number; "cursor"?: string; "limit"?: number }; answer: SessionTurns };
  "GET /settings": { answer: SettingList };
  "GET /settings/model-context-windows": { answer: WindowList };
  "PUT /settings/model-context-windows": { body: WindowBody; answer: WindowRow };
  "DELETE /settings/model-context-windows": { query: { "model"?: string }; answer: null };
  "GET /settings/model-context-windows/resolve": { query: { "model"?: string }; answer: ResolvedWindow };
  "GET /settings/schema": { answer: SettingEntryList };
  "PUT /settings/{key}": { path: { "key": string }; body: SettingBody; answer: SettingRow };
  "POST /traces": { body: { resourceSpans?: Record<string, unknown>[]; }; answer: Exported };
  "GET /usage": { query: { "window_start"?: string }; answer: Usage };
  "GET /usage/windows": { answer: UsageWindows };
  "GET /users": { answer: UserRow[] };
  "POST /users": { body: InvitationBody; answer: UserRow };
  "GET /users/defaults": { answer: UserDefaults };
  "DELETE /users/me": { answer: UserRow };
  "GET /users/{user_id}": { path: { "user_id": string }; answer: UserRow };
  "PUT /users/{user_id}": { path: { "user_id": string }; body: GrantBody; answer: UserRow };
  "DELETE /users/{user_id}": { path: { "user_id": string }; answer: UserRow };
  "POST /users/{user_id}/enable": { path: { "user_id": string }; answer: UserRow };
}
