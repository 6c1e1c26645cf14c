import { Icon } from "../../../kit/icon";
import { isFailed, type Session } from "../model/session";
import type { View } from "../view";

/** Whether the end of the root agent reports a failure. */
function hasFailed(session: Session | null): boolean {
  const root = session?.rows.isAgent.indexOf(1) ?? -1;
  return session !== null && root >= 0 && isFailed(session, root);
}

/** Running, Idle or Ended; that a session has failed is said beside it. */
export function StateBadge({ view }: { view: View }) {
  if (!view.session.value && !view.source.facts.value) return null;
  switch (view.state.value) {
    case "ended":
      return (
        <>
          <span class="pill"><Icon name="flag" class="small" />Ended</span>
          {hasFailed(view.session.value) && <span class="pill err"><Icon name="circle-alert" class="small" />Failed</span>}
        </>
      );
    case "running":
      return <span class="pill info"><Icon name="rotate-cw" class="small" />Running</span>;
    case "idle":
      return <span class="pill"><Icon name="pause" class="small" />Idle</span>;
  }
}
