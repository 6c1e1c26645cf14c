/** Find in session: summaries at once, payloads by what the server found. */
import type { Outline } from "./outline";

/**
 * 1 for each event whose summary, name or agent holds the text, or whose payload does.
 *
 * @param text what was typed; letters match in either case
 * @param inPayload ids of events whose payload matches, as the server answered; null before it has
 */
export function matches(outline: Outline, text: string, inPayload: ReadonlySet<number> | null): Uint8Array {
  const out = new Uint8Array(outline.length);
  if (!text) return out;
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  const names = outline.names.map((name) => pattern.test(name));
  const agents = outline.agents.map((agent) => pattern.test(agent.agent_id));
  for (let i = 0; i < outline.length; i++) {
    const name = outline.name[i]!;
    if ((name >= 0 && names[name]) || agents[outline.agent[i]!] || pattern.test(outline.summary[i]!)) out[i] = 1;
    else if (inPayload?.has(outline.id[i]!)) out[i] = 1;
  }
  return out;
}

/**
 * The next place in a list of bits, going round at the ends; -1 if none is set.
 *
 * @param from the place to leave, or -1 to begin at the first (forwards) or the last (backwards)
 */
export function nextOne(bits: ArrayLike<number>, from: number, step: 1 | -1): number {
  const count = bits.length;
  let at = from < 0 ? (step === 1 ? -1 : count) : from;
  for (let tried = 0; tried < count; tried++) {
    at = (at + step + count) % count;
    if (bits[at]) return at;
  }
  return -1;
}

/** Counts the bits that are set up to and with a place: the "6" of "6 of 41". */
export function rankOf(bits: Uint8Array, place: number): number {
  let rank = 0;
  for (let i = 0; i <= place; i++) rank += bits[i]!;
  return rank;
}
