import { Icon } from "../../../kit/icon";
import type { View } from "../view";

/** Running, Idle or Ended. */
export function StateBadge({ view }: { view: View }) {
  if (!view.session.value && !view.source.facts.value) return null;
  switch (view.state.value) {
    case "ended":
      return <span class="pill ok"><Icon name="check" class="small" />Ended</span>;
    case "running":
      return <span class="pill info"><Icon name="rotate-cw" class="small" />Running</span>;
    case "idle":
      return <span class="pill"><Icon name="pause" class="small" />Idle</span>;
  }
}
