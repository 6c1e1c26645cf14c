import { useState } from "preact/hooks";
import { Icon } from "../../../kit/icon";
import { Chip, type Filter, Filters } from "../../../kit/list/filters";
import { useNarrow } from "../../../kit/media";
import { setQuery } from "../../../kit/router";
import { exact } from "../../../kit/text/formats";
import { clock } from "../model/axis";
import { isFiltered } from "../model/filters";
import { filters } from "../state";
import type { View } from "../view";

/** Button "Filter" and the row of filters that it opens. The row is there as well while something is filtered. */
export function useFilterRow(view: View) {
  const [open, setOpen] = useState(false);
  const active = isFiltered(filters.value) || useNarrow();
  const button = (
    <button
      type="button"
      class="button ghost filter-toggle"
      aria-expanded={open || active}
      onClick={() => setOpen(!open)}
    >
      <Icon name="filter" />
      Filter
    </button>
  );
  return { button, row: open || active ? <FilterRow view={view} /> : null };
}

function FilterRow({ view }: { view: View }) {
  const { outline } = view.session.value!;
  const { errored, window } = filters.value;
  const fields: Filter[] = [
    { param: "type", label: "Type", choices: [...outline.types].sort() },
    { param: "agent", label: "Agent", choices: outline.agents.map((agent) => agent.agent_id) },
    { param: "name", label: "Name", choices: [...outline.names].sort() },
  ];
  const extra = [
    { param: "errored", chip: <Chip label="Failed" value="only" onRemove={() => setQuery({ errored: null })} /> },
    {
      param: "t0",
      chip: window && (
        <Chip
          label="Time"
          value={`${clock(window.from)} to ${clock(window.to)}`}
          onRemove={() => setQuery({ t0: null, t1: null })}
        />
      ),
    },
    { param: "t1", chip: null },
  ];
  return (
    <div class="session-filters">
      <Filters filters={fields} extra={extra}>
        <label class="session-check">
          <input
            type="checkbox"
            checked={errored}
            onChange={(event) => setQuery({ errored: event.currentTarget.checked ? "1" : null })}
          />
          Failed only
        </label>
      </Filters>
      <Shown view={view} />
    </div>
  );
}

/** "10 of 175 shown". */
function Shown({ view }: { view: View }) {
  const { before, length, after } = view.session.value!.outline;
  const text = view.shown.value === null ? "" : `${exact(view.shown.value)} of ${exact(before + length + after)} shown`;
  return (
    <span role="status" class="dim">
      {text}
    </span>
  );
}
