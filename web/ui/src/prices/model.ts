// Rows of prices in words, and a call to try. Pure functions.
import type { PriceRow, Prices, PriceTier, Quote, QuoteBody } from "../api/types";
import { CLASSES, type PriceClass, priceName, reasonText } from "../kit/prices/words";
import { compact } from "../kit/text/formats";
import { money } from "../kit/text/money";

/** The classes that have a column. */
export const COLUMN_CLASSES = ["input", "output", "cache_read", "cache_write"] as const;

function amounts(prices: Partial<Prices>): string {
  return Object.entries(prices)
    .map(([name, value]) => `${CLASSES[name as PriceClass].toLowerCase()} ${money(value)}`)
    .join(", ");
}

function large(tiers: readonly PriceTier[] | undefined): string[] {
  return (tiers ?? []).map(
    ({ above_input_tokens, prices }) => `above ${compact(above_input_tokens)} tokens: ${amounts(prices)}`,
  );
}

/** What a price has besides the columns: further classes, large contexts, service tiers. */
export function extrasOf({ prices, tiers, variants }: Pick<PriceRow, "prices" | "tiers" | "variants">): string[] {
  const others = Object.entries(prices).filter(([name]) => !COLUMN_CLASSES.some((one) => one === name));
  return [
    ...(others.length ? [amounts(Object.fromEntries(others))] : []),
    ...large(tiers),
    ...variants.map(({ when, factor, prices: own, tiers: own_tiers }) => {
      const calls = [when.service_tier, when.utc_time && `${when.utc_time} UTC`].filter(Boolean).join(", ");
      const terms = factor === undefined ? amounts(own) : `× ${factor}`;
      return [`${calls}: ${terms}`, ...large(own_tiers)].join(", ");
    }),
  ];
}

/** The fields of a call that can be tried. Those of numbers hold tokens or searches. */
export const CALL_FIELDS = [
  { name: "model", label: "Model", number: false },
  { name: "provider", label: "Provider", number: false },
  { name: "service_tier", label: "Service tier", number: false },
  { name: "input_tokens", label: "Input tokens", number: true },
  { name: "output_tokens", label: "Output tokens", number: true },
  { name: "cache_read_tokens", label: "Read from cache", number: true },
  { name: "cache_write_tokens", label: "Written to cache", number: true },
  { name: "cache_write_1h_tokens", label: "Of these for 1 h", number: true },
  { name: "reasoning_tokens", label: "Reasoning", number: true },
  { name: "web_searches", label: "Web searches", number: true },
] as const satisfies readonly { name: keyof QuoteBody; label: string; number: boolean }[];

/** The call of these texts; null while no model is named. The server refuses numbers that are none. */
export function callOf(typed: (name: string) => string | null): QuoteBody | null {
  if (!typed("model")?.trim()) return null;
  const values = CALL_FIELDS.flatMap(({ name, number }) => {
    const text = typed(name)?.trim();
    if (!text) return [];
    const plain = text.replaceAll(",", "");
    return [[name, number && /^\d+$/.test(plain) ? Number(plain) : text]];
  });
  return Object.fromEntries(values) as QuoteBody;
}

/** Says what a call costs and by which price, or why it has no cost. */
export function quoteWords({ cost_usd, price, unpriced_reason }: Quote): string {
  const origin = price ? `by ${priceName(price)}` : "";
  if (cost_usd !== null) return `${money(cost_usd)}, ${origin}`;
  const reason = unpriced_reason ? reasonText(unpriced_reason) : "No cost";
  return `${reason}. ${origin && `It would count ${origin}.`}`.trim();
}
