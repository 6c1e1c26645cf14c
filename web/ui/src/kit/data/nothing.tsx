import type { ComponentChildren } from "preact";
import { clearFilters } from "../list/filters";
import { setQuery } from "../router";
import type { Preset } from "../time/time";
import { currentRange } from "../time/zone";
import { urlParams } from "./query";
import { Empty } from "./states";

interface Props {
  /** The plural: "events". */
  things: string;
  /** The parameters of the URL that filter the list. */
  filters: readonly string[];
  /** The range of the page without one in the URL. */
  standard: Preset;
  /** What makes the first of these things. */
  children: ComponentChildren;
}

/** An empty list: what excludes everything, and the way out; or that there is nothing yet. */
export function Nothing({ things, filters, standard, children }: Props) {
  const filtered = Object.values(urlParams(filters)).some((value) => value !== null);
  const limited = currentRange(standard).preset !== "all";
  if (!filtered && !limited)
    return (
      <Empty title={`No ${things} yet`}>
        <p>{children}</p>
      </Empty>
    );
  return (
    <Empty title={`No ${things} match`}>
      <p class="state-actions">
        {filtered && (
          <button type="button" class="button" onClick={() => clearFilters(filters)}>
            Clear filters
          </button>
        )}
        {limited && (
          <button
            type="button"
            class="button"
            onClick={() => setQuery({ t: standard === "all" ? null : "all", from: null, to: null })}
          >
            Go to the latest
          </button>
        )}
      </p>
    </Empty>
  );
}
