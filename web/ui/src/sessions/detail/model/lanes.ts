/**
 * The minimap: for each lane, which kind of work each column of pixels shows.
 *
 * One agent gets a lane for each kind; several get a lane each. Columns instead of bars keep 100,000 events as cheap to
 * draw as a hundred.
 */
import { FAMILIES } from "../../../api/families";
import { type Axis, toAxis } from "./axis";
import { familyOf } from "./families";
import { isFailed, type Session, spanOf } from "./session";

/** The marks of a column of pixels; higher ones hide lower ones. */
export const MARK = { none: 0, human: 1, agent: 2, other: 3, model: 4, hook: 5, tool: 6, error: 7 } as const;

export interface Lane {
  /** The agent's place, or -1 for the lane of a kind. */
  agent: number;
  marks: Uint8Array;
}

const KIND_LANES = 4;
export const MOST_LANES = 12;

const MARK_OF_FAMILY = [MARK.other, ...FAMILIES.map(({ kind }) => MARK[kind])];

const LANE_OF_MARK: Record<number, number> = {
  [MARK.human]: 0,
  [MARK.model]: 1,
  [MARK.tool]: 2,
  [MARK.error]: 2,
  [MARK.hook]: 3,
};

/** @param columns how many pixels the axis takes */
export function buildLanes(session: Session, axis: Axis, columns: number, now: number): Lane[] {
  const { rows, outline, codes } = session;
  const single = outline.agents.length <= 1;
  const count = single ? KIND_LANES : Math.min(outline.agents.length, MOST_LANES);
  const lanes = Array.from({ length: count }, (_, lane) => ({
    agent: single ? -1 : lane,
    marks: new Uint8Array(columns),
  }));
  const scale = columns / axis.length;
  for (let row = 0; row < rows.length; row++) {
    const main = rows.start[row]! >= 0 ? rows.start[row]! : rows.end[row]!;
    if (rows.isAgent[row] || main < 0) continue;
    const failed = isFailed(session, row);
    const plain = MARK_OF_FAMILY[familyOf(codes[main]!)]!;
    const span = spanOf(session, row, now);
    const lane = single ? (LANE_OF_MARK[failed && plain === MARK.other ? MARK.error : plain] ?? 1) : rows.agent[row]!;
    // Sessions of more agents than there is room for share the last lane.
    const { marks } = lanes[Math.min(lane, count - 1)]!;
    const from = Math.min(columns - 1, Math.floor(toAxis(axis, span.from) * scale));
    const to = Math.min(columns, Math.max(from + 1, Math.ceil(toAxis(axis, span.to) * scale)));
    const mark = failed ? MARK.error : plain;
    for (let column = from; column < to; column++) if (marks[column]! < mark) marks[column] = mark;
  }
  return lanes;
}

/** Calls back for each run of equal marks that are not empty. */
export function eachRun(marks: Uint8Array, draw: (mark: number, from: number, to: number) => void): void {
  for (let from = 0; from < marks.length; ) {
    const mark = marks[from]!;
    let to = from + 1;
    while (to < marks.length && marks[to] === mark) to++;
    if (mark !== MARK.none) draw(mark, from, to);
    from = to;
  }
}

/**
 * The context fill over time: the highest share in each column that has one, as [column, share].
 * Of several agents it is that of the first one: shares of many windows make no line.
 */
export function contextLine(session: Session, axis: Axis, columns: number): [number, number][] {
  const { outline } = session;
  const scale = columns / axis.length;
  const line: [number, number][] = [];
  for (let event = 0; event < outline.length; event++) {
    const fill = outline.contextFill[event]!;
    if (Number.isNaN(fill) || outline.agent[event] !== outline.agent[0]) continue;
    const column = Math.round(toAxis(axis, (outline.ts[event]! - session.begin) / 1000) * scale);
    const last = line[line.length - 1];
    if (last && last[0] === column) last[1] = Math.max(last[1], fill);
    else line.push([column, fill]);
  }
  return line;
}
