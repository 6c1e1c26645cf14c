/**
 * The conversation of a session as turns.
 *
 * The outline gives the turns and their order; the texts come with the payloads, as they come into view.
 */
import { FAMILY, familyOf, isClose } from "./families";
import type { Session } from "./session";

export type TurnKind = "goal" | "request" | "assistant" | "person" | "tool" | "error" | "hook" | "end" | "other";

export interface Turn {
  kind: TurnKind;
  /** The event that opens the turn, and that closes it; -1 without one. */
  event: number;
  close: number;
  agent: number;
  /** The depth at which the agent is nested, from 0. */
  depth: number;
  /** Of a request: the one before it by the same agent, or -1. */
  previous: number;
}

/** A text of a turn. */
export interface Part {
  /** Said before the text where it is not plain what it is; also the key. */
  label: string;
  text: string;
  mono?: boolean;
  markdown?: boolean;
  failed?: boolean;
  folded?: boolean;
}

/** Every turn in the order of the events. Hooks are turns only where they failed. */
export function buildTurns(session: Session): Turn[] {
  const { outline, pairs, codes, rows } = session;
  const depths = depthsOf(session);
  const lastRequest = new Map<number, number>();
  const turns: Turn[] = [];
  for (let i = 0; i < outline.length; i++) {
    const kind = kindAt(session, i);
    if (!kind) continue;
    const agent = outline.agent[i]!;
    const partner = pairs.partner[i]!;
    const close = kind === "tool" && !isClose(codes[i]!) ? partner : -1;
    const previous = kind === "request" ? (lastRequest.get(agent) ?? -1) : -1;
    if (kind === "request") lastRequest.set(agent, i);
    turns.push({ kind, event: i, close, agent, depth: depths[rows.ofEvent[i]!] ?? 0, previous });
  }
  return turns;
}

function depthsOf({ rows }: Session): Int32Array {
  return Int32Array.from(rows.level, (level, row) => level - (rows.isAgent[row] ? 1 : 2));
}

function kindAt({ outline, pairs, codes }: Session, i: number): TurnKind | null {
  const close = isClose(codes[i]!);
  const alone = pairs.partner[i] === -1;
  switch (familyOf(codes[i]!)) {
    case FAMILY.agent:
      return close ? "end" : "goal";
    case FAMILY.model:
      return close ? "assistant" : "request";
    case FAMILY.tool:
      return close && !alone ? null : "tool";
    case FAMILY.human:
      // A question repeats the assistant's words; it is a turn only while nobody has answered.
      return close || alone ? "person" : null;
    case FAMILY.hook:
      return close && outline.error[i] ? "hook" : null;
  }
  return outline.types[outline.type[i]!] === "error" ? "error" : "other";
}

export interface Message {
  role: string;
  text: string;
}

/** The words of a value: a string, the texts of its blocks, else its JSON. */
export function wordsOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every(isTextBlock)) return value.map(wordOfBlock).filter(Boolean).join("\n\n");
  return JSON.stringify(value, null, 2);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
// Calls within an answer are turns of their own, so only the texts of its blocks count.
const isTextBlock = (block: unknown) =>
  typeof block === "string" || (isRecord(block) && typeof block.type === "string");
const wordOfBlock = (block: unknown) =>
  typeof block === "string" ? block : isRecord(block) && typeof block.text === "string" ? block.text : "";

/**
 * Picks the messages of a request that the conversation does not have yet.
 *
 * @param payload the request
 * @param earlier the payload of the agent's request before it, if any
 * @returns the system prompt if it is new, and messages that the earlier request lacks; answers of the assistant and
 *   results of tools are turns of their own and left out once there was a request before
 */
export function newInRequest(payload: Record<string, unknown>, earlier?: Record<string, unknown>): Message[] {
  const news: Message[] = [];
  const system = wordsOf(payload.system);
  if (system && system !== wordsOf(earlier?.system)) news.push({ role: "system", text: system });
  const known = countsOf(messagesOf(earlier?.messages).map((message) => JSON.stringify(message)));
  for (const message of messagesOf(payload.messages)) {
    const key = JSON.stringify(message);
    const left = known.get(key) ?? 0;
    if (left > 0) {
      known.set(key, left - 1);
      continue;
    }
    const role = typeof message.role === "string" ? message.role : "message";
    if (earlier && (role === "assistant" || role === "tool")) continue;
    const text = wordsOf(message.content);
    if (text) news.push({ role, text });
  }
  return news;
}

function messagesOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function countsOf(keys: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
