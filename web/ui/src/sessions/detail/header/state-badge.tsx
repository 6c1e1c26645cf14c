import { Icon } from "../../../kit/icon";
import { type Outcome, outcomeOf } from "../../model";
import { OutcomePill } from "../../outcome";
import { isFailed, type Session } from "../model/session";
import type { View } from "../view";

/** Whether the end of the root agent reports a failure. */
function hasFailed(session: Session | null): boolean {
  const root = session?.rows.isAgent.indexOf(1) ?? -1;
  return session !== null && root >= 0 && isFailed(session, root);
}

/**
 * How the session ended, by its facts. Until they say it, and for those who may not read them, a failure shows in its
 * events.
 */
function outcomeOn(view: View): Outcome | null {
  const facts = view.source.facts.value;
  const said = facts && outcomeOf(facts);
  return said ?? (hasFailed(view.session.value) ? { kind: "failed", text: "" } : null);
}

/** Running, Idle or Ended; the outcome stands beside it. */
export function StateBadge({ view }: { view: View }) {
  if (!view.session.value && !view.source.facts.value) return null;
  switch (view.state.value) {
    case "ended": {
      const outcome = outcomeOn(view);
      return (
        <>
          <span class="pill">
            <Icon name="flag" class="small" />
            Ended
          </span>
          {outcome && <OutcomePill outcome={outcome} />}
        </>
      );
    }
    case "running":
      return (
        <span class="pill info">
          <Icon name="rotate-cw" class="small" />
          Running
        </span>
      );
    case "idle":
      return (
        <span class="pill">
          <Icon name="pause" class="small" />
          Idle
        </span>
      );
  }
}
