import type { ResolvedWindow } from "../api/types";
import { exact } from "../kit/text/formats";

/** Reads a number of tokens: "128000", "128,000", "128k", "1M"; null for anything else. */
export function tokensOf(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([kKmM]?)$/.exec(text.trim().replaceAll(",", ""));
  if (!match) return null;
  const factor = { "": 1, k: 1000, m: 1_000_000 }[match[2]!.toLowerCase()]!;
  const tokens = Number(match[1]) * factor;
  return Number.isInteger(tokens) ? tokens : null;
}

/** Says which window a model gets, and why. */
export function sentenceOf({ context_window, source }: ResolvedWindow): string {
  if (source === "unknown" || context_window === null)
    return "Unknown. Events of this model have no context fill until you set a window.";
  const origin = source === "override" ? "set by this organization" : "from the built-in table";
  return `${exact(context_window)} tokens, ${origin}.`;
}
