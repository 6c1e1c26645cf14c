// A price as its form holds it: texts in the shape of the API, so that a path of a 422 is that of a field. Pure.
import type { PriceBody, PriceRow, PriceTier, PriceTierBody } from "../../api/types";
import { formatInput, parseInput } from "../time/time";

type Texts = Record<string, string>;

interface TierDraft {
  above_input_tokens: string;
  prices: Texts;
}

interface VariantDraft {
  when: { service_tier: string; utc_time: string };
  factor: string;
  prices: Texts;
  tiers: TierDraft[];
}

export interface Draft {
  model: string;
  provider: string;
  valid_from: string;
  note: string;
  prices: Texts;
  tiers: TierDraft[];
  variants: VariantDraft[];
}

export const NO_TIER: TierDraft = { above_input_tokens: "", prices: {} };
export const NO_VARIANT: VariantDraft = {
  when: { service_tier: "", utc_time: "" },
  factor: "",
  prices: {},
  tiers: [],
};

function texts(values: object | undefined): Texts {
  return Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, `${value}`]));
}

function tiersOf(tiers: readonly PriceTier[] | undefined): TierDraft[] {
  return (tiers ?? []).map(({ above_input_tokens, prices }) => ({
    above_input_tokens: `${above_input_tokens}`,
    prices: texts(prices),
  }));
}

/** What a price costs, for a form; of another price too. */
export function termsOf({ prices, tiers, variants }: Partial<PriceRow>): Pick<Draft, "prices" | "tiers" | "variants"> {
  return {
    prices: texts(prices),
    tiers: tiersOf(tiers),
    variants: (variants ?? []).map(({ when, factor, prices: own, tiers: large }) => ({
      when: { ...NO_VARIANT.when, ...when },
      factor: `${factor ?? ""}`,
      prices: texts(own),
      tiers: tiersOf(large),
    })),
  };
}

/** The form of a price; a new one may lack everything. */
export function draftOf(row: Partial<PriceRow>, zone: string): Draft {
  return {
    model: row.model ?? "",
    provider: row.provider ?? "",
    valid_from: row.valid_from ? formatInput(new Date(row.valid_from), zone) : "",
    note: row.note ?? "",
    ...termsOf(row),
  };
}

/** The fields with a text. */
function given(values: Texts): Texts {
  return Object.fromEntries(
    Object.entries(values)
      .map(([name, text]) => [name, text.trim()])
      .filter(([, text]) => text),
  );
}

/** "200,000" → 200000. The server names the field of anything that is no whole number. */
function wholeOf(text: string): number {
  const plain = text.replace(/[,\s]/g, "");
  return /^\d+$/.test(plain) ? Number(plain) : (text as unknown as number);
}

function tierBodies(tiers: readonly TierDraft[]): PriceTierBody[] {
  return tiers.map((tier) => ({
    above_input_tokens: wholeOf(tier.above_input_tokens),
    prices: given(tier.prices),
  }));
}

/** The request that saves a form. Amounts stay texts, which lose no decimals. */
export function bodyOf(draft: Draft, zone: string): PriceBody {
  const { model, provider, valid_from, note, prices, tiers, variants } = draft;
  return {
    model: model.trim(),
    provider: provider.trim() || null,
    valid_from: valid_from.trim() ? (parseInput(valid_from, zone)?.toISOString() ?? valid_from) : null,
    note,
    prices: given(prices) as unknown as PriceBody["prices"],
    tiers: tierBodies(tiers),
    variants: variants.map((variant) => {
      const own = given(variant.prices);
      const factor = variant.factor.trim();
      return {
        when: given(variant.when),
        ...(factor && { factor }),
        // With neither, the server says that one of both is missing.
        ...(Object.keys(own).length && { prices: own }),
        ...(variant.tiers.length && { tiers: tierBodies(variant.tiers) }),
      };
    }),
  };
}

type Node = { [key: string]: Node | string };

/** The text at a path such as "variants.0.when.service_tier", "" where there is none. */
export function textAt(draft: Draft, path: string): string {
  let node: Node | string | undefined = draft as unknown as Node;
  for (const part of path.split(".")) node = (node as Node | undefined)?.[part];
  return (node as string | undefined) ?? "";
}

/** The draft with another text at a path. */
export function withText(draft: Draft, path: string, text: string): Draft {
  const changed = structuredClone(draft);
  const parts = path.split(".");
  const last = parts.pop()!;
  let node = changed as unknown as Node;
  for (const part of parts) node = node[part] as Node;
  node[last] = text;
  return changed;
}
