// US dollars as people read them. Pure.
import { compact, exact, plural } from "./formats";

/** From here on thousands are a unit; below, cents count. */
const LARGE = 10_000;
const DECIMALS = 4;
/** As many decimals as the service has. */
const MOST_DECIMALS = 12;

/** 0.03124 → "$0.0312", 41.2 → "$41.20", 12_400 → "$12.4k". Below a hundredth of a cent two digits count. */
export function money(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "−$" : "$";
  if (size === 0) return "$0";
  if (size >= LARGE - 0.005) return sign + compact(size);
  if (size >= 1 - 0.5 / 10 ** DECIMALS) {
    const [whole, cents] = size.toFixed(2).split(".");
    return `${sign}${exact(Number(whole))}.${cents}`;
  }
  const leading = Math.ceil(-Math.log10(size));
  const text = size.toFixed(Math.min(MOST_DECIMALS, Math.max(DECIMALS, leading + 1)));
  // "$0.30", as people write a price. Zeros of a rounded amount stay.
  return sign + (Number(text) === size ? text.replace(/(\.\d\d\d*?)0+$/, "$1") : text);
}

/** All decimals: "$0.031245", "$12,400.1". */
export function exactMoney(value: number): string {
  const size = Math.abs(value);
  const text = size < 1e-6 ? size.toFixed(MOST_DECIMALS).replace(/\.?0+$/, "") : `${size}`;
  const [whole = "", decimals] = text.split(".");
  return `${value < 0 ? "−" : ""}$${exact(Number(whole))}${decimals ? `.${decimals}` : ""}`;
}

/** A result of arithmetic, without the digits that only its binary form has. */
export function rounded(value: number): number {
  return Number(value.toFixed(MOST_DECIMALS));
}

/**
 * An amount, and the title that says more: the exact value, or why it is only a lower bound. Without a price there is
 * no amount, and never "$0".
 */
export function moneyWords(value: number | null, unpriced = 0): { text: string; title: string | undefined } {
  const without = unpriced ? `${plural(unpriced, "call")} without a price` : undefined;
  if (value === null) return { text: "–", title: without };
  return { text: `${without ? "≥ " : ""}${money(value)}`, title: without ?? exactMoney(value) };
}
