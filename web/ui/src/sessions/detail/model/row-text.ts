/** The words of a row. Bars say nothing that is not said here. */
import { type Kind, kindOf } from "../../../kit/list/kinds";
import { FAMILY, familyOf, isClose } from "./families";
import { isFailed, type Session } from "./session";

export interface RowText {
  kind: Kind;
  title: string;
  /** The subject of the call; empty if nothing is known. */
  detail: string;
  failed: boolean;
  inputTokens: number | null;
  outputTokens: number | null;
}

// A model's calls follow its answer at once; hooks stand between, seldom more than a few.
const LOOK_AHEAD = 24;

export function rowText(session: Session, row: number): RowText {
  const { rows, outline } = session;
  const start = rows.start[row]!;
  const end = rows.end[row]!;
  const main = start >= 0 ? start : end;
  const failed = isFailed(session, row);
  const tokens = {
    inputTokens: rowSum(session, row, "inputTokens"),
    outputTokens: rowSum(session, row, "outputTokens"),
  };
  if (rows.isAgent[row]) {
    const detail = start >= 0 ? outline.summary[start]! : "";
    return { kind: "agent", title: outline.agents[rows.agent[row]!]!.agent_id, detail, failed, ...tokens };
  }
  const type = outline.types[outline.type[main]!]!;
  return { kind: kindOf(type), ...titleAndDetail(session, row, main, end), failed, ...tokens };
}

/** The values of the row's start and end together, null if neither has one. */
export function rowSum(
  session: Session,
  row: number,
  column: "inputTokens" | "outputTokens" | "costUsd",
): number | null {
  const events = [session.rows.start[row]!, session.rows.end[row]!].filter((event) => event >= 0);
  const known = events.map((event) => session.outline[column][event]!).filter((value) => !Number.isNaN(value));
  return known.length ? known.reduce((total, value) => total + value, 0) : null;
}

function titleAndDetail(session: Session, row: number, main: number, end: number): { title: string; detail: string } {
  const { outline, codes } = session;
  const type = outline.types[outline.type[main]!]!;
  const name = nameOf(session, main) || nameOf(session, end);
  const first = outline.summary[main]!;
  const second = end >= 0 ? outline.summary[end]! : "";
  switch (familyOf(codes[main]!)) {
    case FAMILY.tool:
      return {
        title: name || "tool",
        detail: isClose(codes[main]!) ? after(first, `${name} → `) : argumentsOf(first, name),
      };
    case FAMILY.model:
      return { title: name || "model", detail: modelDetail(session, row, name) };
    case FAMILY.hook:
      return { title: name || "hook", detail: hookDetail(name, first, second) };
    case FAMILY.human:
      return { title: "person", detail: second || first };
    case FAMILY.pause:
      return { title: "pause", detail: first || second };
    case FAMILY.agent:
      return { title: outline.agents[outline.agent[main]!]!.agent_id, detail: first };
  }
  if (type === "error") return { title: name || "error", detail: after(first, `${name}: `) };
  if (kindOf(type) === "human") return { title: "person", detail: first };
  return { title: type, detail: first };
}

/** "PreToolUse → allow": the trigger is known from the start, the outcome from the end. */
function hookDetail(name: string, first: string, second: string): string {
  const [start = "", outcome] = after(first, name).split(" → ");
  const trigger = start.replace(/^ on /, "").trim();
  const ending = second.split(" → ")[1] ?? outcome;
  return [trigger, ending].filter(Boolean).join(" → ");
}

function nameOf({ outline }: Session, event: number): string {
  return event >= 0 ? (outline.names[outline.name[event]!] ?? "") : "";
}

const after = (text: string, prefix: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : text);

/** "user_id: mohamed, origin: JFK" of the summary `book({"user_id":"mohamed","origin":"JFK"})`, which may be cut. */
export function argumentsOf(summary: string, name: string): string {
  if (!summary.startsWith(`${name}(`)) return summary === name ? "" : summary;
  const inside = summary.slice(name.length + 1).replace(/\)$/, "");
  if (!inside.startsWith("{")) return inside;
  return inside
    .replace(/^\{\s*/, "")
    .replace(/\}$/, "")
    .replace(/"([^"\\]*)"\s*:\s*/g, "$1: ")
    .replace(/"((?:[^"\\]|\\.)*)"?/g, (_, text: string) => text.replace(/\\(["\\/])/g, "$1").replace(/\\[nrt]/g, " "))
    .replace(/,(?=\S)/g, ", ");
}

/** The calls that a model's answer led to, else how it stopped. */
function modelDetail(session: Session, row: number, name: string): string {
  const { rows, outline, codes } = session;
  const end = rows.end[row]! >= 0 ? rows.end[row]! : rows.start[row]!;
  if (!isClose(codes[end]!)) return "";
  const called = callsAfter(session, end);
  if (called.length)
    return `→ ${called.slice(0, 3).join(", ")}${called.length > 3 ? ` and ${called.length - 3} more` : ""}`;
  const ending = after(outline.summary[end]!, `${name} → `).replace(/,? ?\d+\+\d+ tokens…?$/, "");
  return ending && ending !== name ? `→ ${ending}` : "";
}

function callsAfter({ outline, codes }: Session, end: number): string[] {
  const called: string[] = [];
  const agent = outline.agent[end];
  for (let i = end + 1; i < outline.length && i <= end + LOOK_AHEAD; i++) {
    const isChild = codes[i] === FAMILY.agent * 2 && outline.agents[outline.agent[i]!]!.parent === agent;
    if (outline.agent[i] !== agent && !isChild) continue;
    const family = familyOf(codes[i]!);
    if (isChild) called.push(outline.agents[outline.agent[i]!]!.agent_id);
    if (family === FAMILY.model || family === FAMILY.human) break;
    if (codes[i] === FAMILY.tool * 2 && outline.name[i]! >= 0) called.push(outline.names[outline.name[i]!]!);
  }
  return called;
}
