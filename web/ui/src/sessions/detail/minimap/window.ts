// Choosing the visible time: by dragging, and by keys. Places are those of the folded axis.
import { type Axis, fromAxis } from "../model/axis";
import { setWindow } from "../state";

export interface Stretch {
  from: number;
  to: number;
}

export interface Drag {
  kind: "new" | "move" | "from" | "to";
  start: number;
  original: Stretch;
  stretch: Stretch;
}

/** The least share of the axis that can be chosen. */
const LEAST_SHARE = 1 / 2000;
const STEP = 0.1;
const ZOOM = 1.5;

function within({ from, to }: Stretch, axis: Axis): Stretch {
  const size = Math.min(axis.length, Math.max(to - from, axis.length * LEAST_SHARE));
  const start = Math.max(0, Math.min(axis.length - size, from));
  return { from: start, to: start + size };
}

const isAll = ({ from, to }: Stretch, axis: Axis) => from <= 0 && to >= axis.length;

export const dragged = {
  /** @param reach how near to an edge takes hold of it */
  begin(at: number, window: Stretch, axis: Axis, reach: number): Drag {
    const base = { start: at, original: window, stretch: window };
    if (isAll(window, axis)) return { kind: "new", ...base };
    if (Math.abs(at - window.from) < reach) return { kind: "from", ...base };
    if (Math.abs(at - window.to) < reach) return { kind: "to", ...base };
    return { kind: at > window.from && at < window.to ? "move" : "new", ...base };
  },

  move(drag: Drag, at: number, axis: Axis): Drag {
    const { kind, start, original } = drag;
    const ends = kind === "new" ? [start, at] : kind === "from" ? [at, original.to] : [original.from, at];
    const stretch =
      kind === "move"
        ? within({ from: original.from + at - start, to: original.to + at - start }, axis)
        : { from: Math.min(ends[0]!, ends[1]!), to: Math.max(ends[0]!, ends[1]!) };
    return { ...drag, stretch };
  },

  /** The stretch that the drag chose; a click outside of the visible time shows all of it. */
  end({ kind, stretch, original }: Drag, axis: Axis, reach: number): Stretch {
    if (stretch === original) return kind === "new" ? { from: 0, to: axis.length } : original;
    if (kind === "new" && stretch.to - stretch.from < reach) return original;
    return within(stretch, axis);
  },
};

/** The visible time after a key, or null if the key means nothing here. */
export function stepped(key: string, window: Stretch, axis: Axis): Stretch | null {
  const size = window.to - window.from;
  const middle = (window.from + window.to) / 2;
  const moved = (by: number) => within({ from: window.from + by, to: window.to + by }, axis);
  const zoomed = (to: number) => within({ from: middle - to / 2, to: middle + to / 2 }, axis);
  switch (key) {
    case "ArrowRight":
    case "ArrowUp":
      return moved(size * STEP);
    case "ArrowLeft":
    case "ArrowDown":
      return moved(-size * STEP);
    case "PageUp":
      return moved(size);
    case "PageDown":
      return moved(-size);
    case "Home":
      return moved(-axis.length);
    case "End":
      return moved(axis.length);
    case "+":
    case "=":
      return zoomed(size / ZOOM);
    case "-":
    case "−":
      return zoomed(size * ZOOM);
    case "Escape":
      return isAll(window, axis) ? null : { from: 0, to: axis.length };
  }
  return null;
}

export function commit(axis: Axis, stretch: Stretch, typing = false): void {
  const window = isAll(stretch, axis) ? null : { from: fromAxis(axis, stretch.from), to: fromAxis(axis, stretch.to) };
  setWindow(window, { typing });
}
