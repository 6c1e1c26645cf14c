// Made by `bin/ui types` from the declared filters. Do not edit.

export interface DeclaredFilter {
  param: string;
  type: string;
  /** The name on the filter bar; "" where it is not on it. */
  label: string;
  /** The only values. */
  choices?: readonly string[];
  /** The names that values begin with. */
  names?: readonly string[];
}

export const DECLARED: Record<string, readonly DeclaredFilter[]> = {
  events: [
    {"param": "session_id", "type": "any_of", "label": "Session"},
    {"param": "agent_id", "type": "any_of", "label": "Agent"},
    {"param": "event_type", "type": "any_of", "label": "Type"},
    {"param": "environment", "type": "any_of", "label": "Environment"},
    {"param": "error_type", "type": "any_of", "label": "Error type"},
    {"param": "tool_name", "type": "any_of", "label": "Tool"},
    {"param": "hook_name", "type": "any_of", "label": "Hook"},
    {"param": "trigger_event", "type": "any_of", "label": "Trigger"},
    {"param": "model", "type": "any_of", "label": "Model"},
    {"param": "provider", "type": "any_of", "label": ""},
    {"param": "service_tier", "type": "any_of", "label": ""},
    {"param": "cost_source", "type": "any_of", "label": ""},
    {"param": "user_id", "type": "any_of", "label": "User"},
    {"param": "agent_version", "type": "any_of", "label": "Version"},
    {"param": "tag", "type": "any_of", "label": "Tag"},
    {"param": "attr", "type": "attributes", "label": "Attribute"},
    {"param": "missing", "type": "list", "label": "Missing",
      "names": ["user_id", "agent_version", "tag"]},
    {"param": "event_id", "type": "any_of", "label": ""},
    {"param": "errored", "type": "flag", "label": "Failed"},
    {"param": "search", "type": "texts", "label": ""},
    {"param": "search_exclude", "type": "list", "label": ""},
  ],
  sessions: [
    {"param": "session_id", "type": "any_of", "label": "Session"},
    {"param": "agent_id", "type": "any_of", "label": "Agent"},
    {"param": "environment", "type": "any_of", "label": "Environment"},
    {"param": "status", "type": "any_of", "label": "Status", "choices": ["done", "error", "timeout", "none"]},
    {"param": "score_filters", "type": "list", "label": ""},
    {"param": "metric_filters", "type": "list", "label": "",
      "names": ["cost_usd", "tokens", "duration_ms", "error_count", "event_count", "model_calls"]},
    {"param": "user_id", "type": "any_of", "label": "User"},
    {"param": "agent_version", "type": "any_of", "label": "Version"},
    {"param": "tag", "type": "any_of", "label": "Tag"},
    {"param": "model", "type": "any_of", "label": "Model"},
    {"param": "provider", "type": "any_of", "label": ""},
    {"param": "attr", "type": "attributes", "label": "Attribute"},
    {"param": "missing", "type": "list", "label": "Missing",
      "names": ["user_id", "agent_version", "tag"]},
  ],
  evaluations: [
    {"param": "session_id", "type": "any_of", "label": "Session"},
    {"param": "agent_id", "type": "any_of", "label": "Agent"},
    {"param": "environment", "type": "any_of", "label": "Environment"},
    {"param": "status", "type": "any_of", "label": "Status", "choices": ["done", "error", "timeout"]},
    {"param": "evaluator", "type": "any_of", "label": "Evaluator"},
    {"param": "evaluator_version", "type": "any_of", "label": ""},
    {"param": "score_filters", "type": "list", "label": ""},
    {"param": "user_id", "type": "any_of", "label": "User"},
    {"param": "agent_version", "type": "any_of", "label": "Version"},
    {"param": "tag", "type": "any_of", "label": "Tag"},
    {"param": "attr", "type": "attributes", "label": "Attribute"},
    {"param": "missing", "type": "list", "label": "Missing",
      "names": ["user_id", "agent_version", "tag"]},
    {"param": "time", "type": "choice", "label": "", "choices": ["completion", "session"]},
    {"param": "latest_per_session", "type": "flag", "label": ""},
  ],
};
