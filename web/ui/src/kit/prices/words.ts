// The classes of a call's cost, and what is assumed about it, in words. Pure.
import type { PriceRow, Quote, QuoteLine } from "../../api/types";
import { own } from "../data/own";

export type PriceClass = QuoteLine["class"];

/** The classes in the order of the API. */
export const CLASSES: Record<PriceClass, string> = {
  input: "Input",
  output: "Output",
  cache_read: "Cache read",
  cache_write: "Cache write",
  cache_write_1h: "Cache write, 1 h",
  reasoning: "Reasoning",
  input_audio: "Audio input",
  output_audio: "Audio output",
  web_search: "Web search",
  request: "Request",
};

/** What the price of a class is of. */
export function unitOf(name: PriceClass): string {
  return name === "web_search" || name === "request" ? "1,000" : "1M";
}

const NOTES: Record<string, string> = {
  write_lifetime_assumed:
    "The lifetime of what was written to the cache is unknown: the lower of its two prices counts.",
  tier_unknown: "The price does not name this service tier: the standard price counts.",
  cached_added: "More was cached than read: the cached tokens were added to the input.",
  reasoning_added: "There was more reasoning than output: it was added to the output.",
  reported_ignored: "The reported cost is no possible amount of US dollars, and does not count.",
};

/** An assumption about a cost as a sentence. */
export function noteText(note: string): string {
  return own(NOTES, note) ?? note;
}

const REASONS: Record<NonNullable<Quote["unpriced_reason"]>, string> = {
  no_model: "No model",
  no_price: "No price",
  no_usage: "No tokens",
  bad_usage: "Impossible tokens",
};

/** Why a call has no price. */
export function reasonText(reason: string): string {
  return own(REASONS, reason) ?? reason;
}

/** "the own price house-*", "the built-in price gpt-4o of openai". */
export function priceName({ source, model, provider }: Pick<PriceRow, "source" | "model" | "provider">): string {
  return `the ${source === "builtin" ? "built-in" : "own"} price ${model}${provider ? ` of ${provider}` : ""}`;
}
