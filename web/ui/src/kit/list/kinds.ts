// The kinds of events, and their icons.
import type { IconName } from "../icon-names";

export type Kind = "agent" | "model" | "tool" | "hook" | "human" | "error" | "other";

const KINDS: Record<string, Kind> = {
  tool_use: "tool",
  tool_result: "tool",
  model_request: "model",
  model_response: "model",
  hook_triggered: "hook",
  hook_completed: "hook",
  human_wait: "human",
  human_input: "human",
  human_pause: "human",
  human_interrupt: "human",
  agent_pause: "human",
  agent_resume: "human",
  agent_start: "agent",
  agent_end: "agent",
  error: "error",
};

export const KIND_ICONS: Record<Kind, IconName> = {
  agent: "bot",
  model: "sparkles",
  tool: "wrench",
  hook: "webhook",
  human: "user",
  error: "circle-alert",
  other: "file-text",
};

/** The kind of an event type. */
export function kindOf(type: string): Kind {
  return Object.hasOwn(KINDS, type) ? KINDS[type]! : "other";
}
