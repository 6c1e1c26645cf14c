// The kinds of events, and their icons.

import { FAMILIES } from "../../api/families";
import type { IconName } from "../icon-names";

export type Kind = "agent" | "model" | "tool" | "hook" | "human" | "error" | "other";

const KINDS: Record<string, Kind> = {
  human_pause: "human",
  human_interrupt: "human",
  error: "error",
  ...Object.fromEntries(FAMILIES.flatMap(({ start, end, kind }) => [start, end].map((type) => [type, kind]))),
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
