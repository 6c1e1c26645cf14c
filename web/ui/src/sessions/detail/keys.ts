// The keys of the session page.
import { param, setQuery } from "../../kit/router";
import { useShortcuts } from "../../kit/shortcuts";
import { goToError, goToMatch } from "./header/find";
import type { EventTab } from "./panel/event";
import { chooseEvent, VIEWS } from "./state";
import type { View } from "./view";
import { foldAgent } from "./waterfall/fold";
import { foldOrMove, moveChoice } from "./waterfall/tree-keys";

interface Actions {
  onTab: (tab: EventTab) => void;
  newer: () => void;
  older: () => void;
}

export function useSessionKeys(view: View, { onTab, newer, older }: Actions): void {
  const fold = (row: number) => foldAgent(view, row);
  useShortcuts([
    { keys: "j", label: "Next row", run: () => moveChoice(view, 1) },
    { keys: "k", label: "Previous row", run: () => moveChoice(view, -1) },
    { keys: "n", label: "Next match", run: () => goToMatch(view, 1) },
    { keys: "Shift+N", label: "Previous match", run: () => goToMatch(view, -1) },
    { keys: "Shift+E", label: "Next error", run: () => goToError(view) },
    { keys: "ArrowLeft", label: "Fold", run: () => foldOrMove(view, "out", fold) },
    { keys: "ArrowRight", label: "Unfold", run: () => foldOrMove(view, "in", fold) },
    { keys: "o", label: "Payload", run: () => onTab("payload") },
    { keys: ".", label: "Raw payload", run: () => onTab("raw") },
    { keys: "[", label: "Newer session", run: newer },
    { keys: "]", label: "Older session", run: older },
    { keys: "Escape", label: "Close the event", run: () => param("e") && chooseEvent(null) },
    ...VIEWS.map((name, index) => ({
      keys: String(index + 1),
      label: `Tab ${name[0]!.toUpperCase()}${name.slice(1)}`,
      run: () => setQuery({ view: index ? name : null }),
    })),
  ]);
}
