/**
 * The rows of the waterfall: a row is an agent, a pair of events or a single event; agents hold their calls and agents.
 */
import { FAMILY, familyCode, familyOf, isClose } from "./families";
import type { Outline } from "./outline";
import type { Pairs } from "./pairing";

export interface Rows {
  readonly length: number;
  /** The opening event, or the only one; -1 for an agent without agent_start. */
  readonly start: Int32Array;
  /** The closing event, or -1. */
  readonly end: Int32Array;
  readonly agent: Int32Array;
  /** 1 for the row of an agent. */
  readonly isAgent: Uint8Array;
  /** From 1. */
  readonly level: Int32Array;
  /** The row of the agent around it, or -1. */
  readonly parent: Int32Array;
  /** The first row after everything inside this one. */
  readonly last: Int32Array;
  /** The row of each event. */
  readonly ofEvent: Int32Array;
}

const NONE = -1;

export function codesOf(outline: Pick<Outline, "type" | "types">): Uint8Array {
  const byType = outline.types.map(familyCode);
  return Uint8Array.from(outline.type, (type) => byType[type]!);
}

/** The parent of each agent, or -1. Where parents lead back to an agent, the link that closes the circle is cut. */
export function parentsOf(outline: Pick<Outline, "agents">): Int32Array {
  const parent = Int32Array.from(outline.agents, (agent) => agent.parent ?? NONE);
  const seenBy = new Int32Array(parent.length).fill(NONE);
  for (let agent = 0; agent < parent.length; agent++) {
    for (let at = agent; at !== NONE && seenBy[at] === NONE; at = parent[at]!) {
      seenBy[at] = agent;
      const up = parent[at]!;
      if (up !== NONE && seenBy[up] === agent) parent[at] = NONE;
    }
  }
  return parent;
}

type Agents = Pick<Outline, "length" | "agent" | "agents">;

interface Contents {
  /** The members of each agent in order: an event, or an agent as its complement (~agent). */
  members: number[][];
  roots: number[];
  own: Int32Array;
  ends: Int32Array;
}

function contents(outline: Agents, pairs: Pairs, codes: Uint8Array): Contents {
  const parents = parentsOf(outline);
  const count = outline.agents.length;
  const members: number[][] = Array.from({ length: count }, () => []);
  const roots: number[] = [];
  const placed = new Uint8Array(count);
  const own = new Int32Array(count).fill(NONE);
  const ends = new Int32Array(count).fill(NONE);
  const place = (first: number) => {
    // From the agent upwards, until one has its place already.
    for (let agent = first; !placed[agent]; agent = parents[agent]!) {
      placed[agent] = 1;
      if (parents[agent] === NONE) {
        roots.push(agent);
        return;
      }
      members[parents[agent]!]!.push(~agent);
    }
  };
  for (let i = 0; i < outline.length; i++) {
    const agent = outline.agent[i]!;
    if (!placed[agent]) place(agent);
    const partner = pairs.partner[i]!;
    if (partner !== NONE && partner < i) continue;
    const isLifetime = familyOf(codes[i]!) === FAMILY.agent;
    const [start, end] = halves(i, partner, codes);
    if (isLifetime && own[agent] === NONE && ends[agent] === NONE) {
      own[agent] = start;
      ends[agent] = end;
    } else {
      members[agent]!.push(i);
    }
  }
  return { members, roots, own, ends };
}

function halves(i: number, partner: number, codes: Uint8Array): [number, number] {
  const closes = codes[i] !== 0 && isClose(codes[i]!);
  if (!closes) return [i, partner];
  return partner === NONE ? [NONE, i] : [partner, i];
}

export function buildRows(outline: Agents, pairs: Pairs, codes: Uint8Array): Rows {
  const { members, roots, own, ends } = contents(outline, pairs, codes);
  const most = outline.length + outline.agents.length;
  const [start, end, agent, level, parent, last] = Array.from({ length: 6 }, () => new Int32Array(most)) as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const isAgent = new Uint8Array(most);
  const ofEvent = new Int32Array(outline.length).fill(NONE);
  let length = 0;
  const add = (from: number, to: number, whose: number, depth: number, inside: number) => {
    start[length] = from;
    end[length] = to;
    agent[length] = whose;
    level[length] = depth;
    parent[length] = inside;
    last[length] = length + 1;
    if (from !== NONE) ofEvent[from] = length;
    if (to !== NONE) ofEvent[to] = length;
    return length++;
  };
  // An explicit stack: hostile data can nest agents deeper than calls of functions can go.
  const stack: { agent: number; row: number; at: number }[] = [];
  const enter = (whose: number, depth: number, inside: number) => {
    const row = add(own[whose]!, ends[whose]!, whose, depth, inside);
    isAgent[row] = 1;
    stack.push({ agent: whose, row, at: 0 });
  };
  for (const root of roots) {
    enter(root, 1, NONE);
    while (stack.length) {
      const top = stack[stack.length - 1]!;
      const member = members[top.agent]![top.at++];
      if (member === undefined) {
        last[top.row] = length;
        stack.pop();
      } else if (member < 0) {
        enter(~member, level[top.row]! + 1, top.row);
      } else {
        const [from, to] = halves(member, pairs.partner[member]!, codes);
        add(from === NONE ? to : from, from === NONE ? NONE : to, top.agent, level[top.row]! + 1, top.row);
      }
    }
  }
  return {
    length,
    isAgent: isAgent.slice(0, length),
    ofEvent,
    start: start.slice(0, length),
    end: end.slice(0, length),
    agent: agent.slice(0, length),
    level: level.slice(0, length),
    parent: parent.slice(0, length),
    last: last.slice(0, length),
  };
}

/**
 * The rows on show, in order.
 *
 * @param folded the agents whose contents are hidden
 * @param kept 1 for each row that the filters let through, or null for all; agents around a kept row stay
 */
export function visibleRows(rows: Rows, folded: ReadonlySet<number>, kept: Uint8Array | null): Int32Array {
  const shown = kept && withAncestors(rows, kept);
  const out = new Int32Array(rows.length);
  let count = 0;
  for (let row = 0; row < rows.length; ) {
    if (shown && !shown[row]) {
      row = rows.isAgent[row] ? rows.last[row]! : row + 1;
      continue;
    }
    out[count++] = row;
    row = rows.isAgent[row] && folded.has(rows.agent[row]!) ? rows.last[row]! : row + 1;
  }
  return out.slice(0, count);
}

function withAncestors(rows: Rows, kept: Uint8Array): Uint8Array {
  const shown = kept.slice();
  for (let row = rows.length - 1; row >= 0; row--) {
    const parent = rows.parent[row]!;
    if (shown[row] && parent !== NONE) shown[parent] = 1;
  }
  return shown;
}
