import { setQuery } from "../../../kit/router";
import type { View } from "../view";

/** Folds the agent of a row, or unfolds it. */
export function foldAgent(view: View, row: number): void {
  const { rows, outline } = view.session.value!;
  if (!rows.isAgent[row]) return;
  const id = outline.agents[rows.agent[row]!]!.agent_id;
  const folded = [...view.folded.value].map((place) => outline.agents[place]!.agent_id);
  setQuery({ fold: folded.includes(id) ? folded.filter((each) => each !== id) : [...folded, id] });
}
