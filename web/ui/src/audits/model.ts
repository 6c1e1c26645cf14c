import type { AuditBody, AuditRow, AuditRunRow } from "../api/types";
import { type ChannelDraft, channelDraft, channelsOf } from "../kit/form/channels";
import { plural } from "../kit/text/formats";
import { spanText, spanValue } from "../kit/time/spans";

export const SENSITIVITIES = ["low", "medium", "high"] as const;
export const SIGNALS = [
  "error_cluster",
  "tool_failure",
  "latency_drift",
  "error_drift",
  "score_drift",
  "goal_failure",
  "abandoned_session",
  "tool_loop",
  "context_pressure",
  "token_outlier",
  "leaked_credential",
  "evaluation_gap",
] as const satisfies readonly NonNullable<AuditBody["signals"]>[number][];

export interface Draft extends ChannelDraft {
  name: string;
  description: string;
  enabled: boolean;
  environments: string[];
  agent_ids: string[];
  sensitivity: AuditRow["sensitivity"];
  signals: string[];
  ignore_error_types: string[];
  schedule_interval_secs: string;
  window_mode: AuditRow["window_mode"];
  lookback_window_secs: string;
  top_k: string;
  llm_enabled: boolean;
}

/** The form's values for an audit, or those of a new one. */
export function draftOf(audit: AuditRow | null): Draft {
  return {
    name: audit?.name ?? "",
    description: audit?.description ?? "",
    enabled: audit?.enabled ?? true,
    environments: audit?.scope.environments ?? [],
    agent_ids: audit?.scope.agent_ids ?? [],
    sensitivity: audit?.sensitivity ?? "medium",
    signals: audit?.signals ?? [],
    ignore_error_types: audit?.ignore_error_types ?? [],
    schedule_interval_secs: spanText(audit?.schedule_interval_secs ?? 86_400),
    window_mode: audit?.window_mode ?? "since_last",
    lookback_window_secs: spanText(audit?.lookback_window_secs ?? 604_800),
    top_k: `${audit?.top_k ?? 50}`,
    llm_enabled: audit?.llm_enabled ?? true,
    ...channelDraft(audit?.channels ?? []),
  };
}

/** The body that saves a draft. */
export function bodyOf(draft: Draft): AuditBody {
  const { environments, agent_ids, description, signals, top_k } = draft;
  const { name, enabled, sensitivity, ignore_error_types, window_mode, llm_enabled } = draft;
  return {
    name,
    enabled,
    sensitivity,
    ignore_error_types,
    window_mode,
    llm_enabled,
    description: description || null,
    scope: { environments, agent_ids },
    signals: signals as NonNullable<AuditBody["signals"]>,
    schedule_interval_secs: spanValue(draft.schedule_interval_secs),
    lookback_window_secs: spanValue(draft.lookback_window_secs),
    channels: channelsOf(draft),
    top_k: /^\d+$/.test(top_k) ? Number(top_k) : (top_k as unknown as number),
  };
}

/** "every 1 d, since the last run" */
export function scheduleText(audit: AuditRow): string {
  const window =
    audit.window_mode === "fixed" ? `the last ${spanText(audit.lookback_window_secs)}` : "since the last run";
  return `every ${spanText(audit.schedule_interval_secs)}, ${window}`;
}

/** "production, staging; agent a" or "everything" */
export function scopeText({ scope: { environments, agent_ids } }: AuditRow): string {
  const parts = [
    environments.join(", "),
    agent_ids.length > 2 ? plural(agent_ids.length, "agent") : agent_ids.join(", "),
  ];
  return parts.filter(Boolean).join("; ") || "everything";
}

/** "2,721 events of 60 sessions" */
function statsText({ stats }: AuditRunRow): string {
  const { events, total_sessions: sessions } = stats as { events?: unknown; total_sessions?: unknown };
  if (typeof events !== "number" || typeof sessions !== "number") return "";
  return `${plural(events, "event")} of ${plural(sessions, "session")}`;
}

/** The line about what a run did: what it read, or why it or its report failed. */
export function outcomeText(run: AuditRunRow): { text: string; failed: boolean } {
  const { report_error } = run.stats as { report_error?: unknown };
  if (run.error) return { text: run.error, failed: true };
  if (typeof report_error === "string") return { text: `${statsText(run)}; no report: ${report_error}`, failed: false };
  return { text: statsText(run), failed: false };
}

/** Whether a new audit waits for its first run, which is due at once. */
export function awaitsFirstRun({ enabled, last_attempted_at, created_at, updated_at }: AuditRow): boolean {
  return enabled && last_attempted_at === null && updated_at === created_at;
}

/** Whether the audit and its newest run were read at different times, so that one of them is out of date. */
export function isBehind(audit: AuditRow, newest: AuditRunRow | undefined): boolean {
  return (
    audit.last_run_status !== (newest?.status ?? null) || audit.last_run_finished_at !== (newest?.finished_at ?? null)
  );
}
