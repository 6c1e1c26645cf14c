/**
 * Which start belongs to which end.
 *
 * Within a family and key an end takes the oldest start that is open. One start and one end that are alone with their
 * key belong together in any order, because clocks of two machines differ. Events without a key are paired in their
 * order within agent and family. Ends that find nothing stand alone, and starts that find nothing are open.
 *
 * Lists of open starts are chains through one typed array, so that 100,000 events cost a few milliseconds.
 */
import { familyOf, isClose, NO_FAMILY } from "./families";

export interface PairInput {
  /** Codes of `familyCode`, in the order of the events. */
  code: Uint8Array;
  agent: Int32Array;
  /** 0 without a key. */
  key: Float64Array;
  /** Microseconds. */
  ts: Float64Array;
  /** Milliseconds, or NaN. */
  durationMs: Float64Array;
}

export interface Pairs {
  /** The index of the other half, or -1. */
  partner: Int32Array;
  /** Milliseconds, at both halves of a pair; NaN without one. */
  latencyMs: Float64Array;
}

const NONE = -1;

export function pairEvents(input: PairInput): Pairs {
  const { code } = input;
  const group = groupsOf(input);
  const partner = new Int32Array(code.length).fill(NONE);
  pairSingles(input, group, partner);
  pairInOrder(input, group, partner);
  return { partner, latencyMs: latencies(input, partner) };
}

interface Groups {
  of: Int32Array;
  count: number;
}

/** Numbers the groups within which events can be paired. */
function groupsOf({ code, agent, key }: PairInput): Groups {
  const keyed = new Map<number, Map<number, number>>();
  const of = new Int32Array(code.length).fill(NONE);
  let count = 0;
  for (let i = 0; i < code.length; i++) {
    if (code[i] === NO_FAMILY) continue;
    const family = familyOf(code[i]!);
    // Groups without a key are held under negative families, by agent.
    const space = key[i] === 0 ? -family : family;
    const value = key[i] === 0 ? agent[i]! : key[i]!;
    let groups = keyed.get(space);
    if (!groups) keyed.set(space, (groups = new Map<number, number>()));
    let group = groups.get(value);
    if (group === undefined) groups.set(value, (group = count++));
    of[i] = group;
  }
  return { of, count };
}

function pairSingles({ code, key }: PairInput, groups: Groups, partner: Int32Array): void {
  const starts = new Int32Array(groups.count).fill(NONE);
  const closes = new Int32Array(groups.count).fill(NONE);
  const many = new Uint8Array(groups.count);
  for (let i = 0; i < code.length; i++) {
    const group = groups.of[i]!;
    if (group === NONE || key[i] === 0) continue;
    const side = isClose(code[i]!) ? closes : starts;
    if (side[group] === NONE) side[group] = i;
    else many[group] = 1;
  }
  for (let group = 0; group < groups.count; group++) {
    const start = starts[group]!;
    const close = closes[group]!;
    if (many[group] || start === NONE || close === NONE) continue;
    partner[start] = close;
    partner[close] = start;
  }
}

function pairInOrder({ code }: PairInput, groups: Groups, partner: Int32Array): void {
  const oldest = new Int32Array(groups.count).fill(NONE);
  const newest = new Int32Array(groups.count).fill(NONE);
  const next = new Int32Array(code.length).fill(NONE);
  for (let i = 0; i < code.length; i++) {
    const group = groups.of[i]!;
    if (group === NONE || partner[i] !== NONE) continue;
    if (!isClose(code[i]!)) {
      if (oldest[group] === NONE) oldest[group] = i;
      else next[newest[group]!] = i;
      newest[group] = i;
    } else if (oldest[group] !== NONE) {
      const start = oldest[group]!;
      oldest[group] = next[start]!;
      partner[start] = i;
      partner[i] = start;
    }
  }
}

/** The duration that the end carries, else the difference of the times, which is never negative. */
function latencies({ code, ts, durationMs }: PairInput, partner: Int32Array): Float64Array {
  const latency = new Float64Array(code.length).fill(NaN);
  for (let i = 0; i < code.length; i++) {
    const start = partner[i]!;
    if (start === NONE || !isClose(code[i]!)) continue;
    const own = durationMs[i]!;
    latency[i] = Number.isNaN(own) ? Math.max(0, ts[i]! - ts[start]!) / 1000 : own;
    latency[start] = latency[i]!;
  }
  return latency;
}
