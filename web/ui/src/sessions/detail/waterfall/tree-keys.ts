// Moving through the rows of the treegrid. The keys of the whole page are elsewhere.

import { stepped } from "../../../kit/list/virtual";
import { setQuery } from "../../../kit/router";
import { chooseEvent } from "../state";
import type { View } from "../view";
import { mainEvent } from "./columns";

interface Actions {
  onOpen: () => void;
  fold: (row: number) => void;
}

const PAGE_ROWS = 20;
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE_ROWS,
  PageUp: -PAGE_ROWS,
  Home: -Infinity,
  End: Infinity,
};

/** Chooses the row that stands `step` places further among those on show. */
export function moveChoice(view: View, step: number): void {
  const session = view.session.value;
  const visible = view.visible.value;
  if (!session || visible.length === 0) return;
  const next = stepped(visible.indexOf(view.chosenRow.value), step, visible.length);
  chooseEvent(session.outline.id[mainEvent(session, visible[next]!)]!, { typing: true });
}

/** Folds or unfolds around the chosen row; where there is nothing to fold, goes to the agent or into it. */
export function foldOrMove(view: View, direction: "in" | "out", fold: (row: number) => void): void {
  const session = view.session.value;
  const row = view.chosenRow.value;
  if (!session || row < 0) return;
  const { rows } = session;
  const holds = rows.isAgent[row] && rows.last[row]! > row + 1;
  const folded = holds && view.folded.value.has(rows.agent[row]!);
  if (direction === "in" && folded) fold(row);
  else if (direction === "in" && holds) moveChoice(view, 1);
  else if (direction === "out" && holds && !folded) fold(row);
  else if (direction === "out" && rows.parent[row]! >= 0) {
    chooseEvent(session.outline.id[mainEvent(session, rows.parent[row]!)]!, { typing: true });
  }
}

/** Makes the listener for the keys of the treegrid. */
export function treeKeys(view: View, { onOpen, fold }: Actions): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== event.currentTarget) return;
    const step = STEPS[event.key];
    if (step !== undefined) moveChoice(view, step);
    else if (event.key === "ArrowRight") foldOrMove(view, "in", fold);
    else if (event.key === "ArrowLeft") foldOrMove(view, "out", fold);
    else if (event.key === "Enter") {
      // A step of the history, so that Back returns to the row before.
      setQuery({});
      onOpen();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
}
