import { useMemo, useState } from "preact/hooks";
import { Icon } from "../../../kit/icon";
import { KIND_ICONS } from "../../../kit/list/kinds";
import { param, setQuery } from "../../../kit/router";
import { compact, duration, exact } from "../../../kit/text/formats";
import { splitValues } from "../../../kit/url";
import { breakdown, type Line } from "../model/breakdown";
import { useLater } from "../use-later";
import type { View } from "../view";
import { Context } from "./context";
import { Costs } from "./costs";

type Key = "name" | "calls" | "errors" | "time" | "p95" | "tokens";

const HEADS: { key: Key; title: string }[] = [
  { key: "name", title: "Name" },
  { key: "calls", title: "Calls" },
  { key: "errors", title: "Errors" },
  { key: "time", title: "Time" },
  { key: "p95", title: "p95" },
  { key: "tokens", title: "Tokens" },
];

/** Where the time of the session went. A click on a name filters by it. */
export function Breakdown({ view }: { view: View }) {
  const [sort, setSort] = useState<Sort>({ key: "time", down: true });
  const scene = useLater(view.scene.value);
  const session = scene?.session;
  const all = useMemo(() => (session ? breakdown(session) : null), [session]);
  const lines = sorted(all ?? [], sort.key, sort.down);
  return (
    <aside class="side-panel" aria-label="Breakdown">
      <header class="side-head">
        <h2>Breakdown</h2>
        <p class="soft">Select an event to see it here instead.</p>
      </header>
      <div class="side-scroll">
        <table class="breakdown" aria-label="Breakdown">
          <thead>
            <tr>
              {HEADS.map((head) => (
                <Head key={head.key} by={head.key} title={head.title} sort={sort} onSort={setSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <Row key={`${line.kind} ${line.name}`} line={line} />
            ))}
          </tbody>
        </table>
        {all?.length === 0 && <p class="side-note soft">No tool, model or hook was called.</p>}
        <Costs view={view} />
        {scene && <Context scene={scene} />}
      </div>
    </aside>
  );
}

function sorted(lines: Line[], key: Key, down: boolean): Line[] {
  const by = (line: Line) => line[key] ?? -1;
  return [...lines].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    const order = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
    return down ? -order : order;
  });
}

interface Sort {
  key: Key;
  down: boolean;
}

function Head({ by, title, sort, onSort }: { by: Key; title: string; sort: Sort; onSort: (sort: Sort) => void }) {
  const active = sort.key === by;
  const direction = active ? (sort.down ? "descending" : "ascending") : "none";
  return (
    <th class={by === "name" ? undefined : "number"} scope="col" aria-sort={direction}>
      <button type="button" class="sort" onClick={() => onSort({ key: by, down: active ? !sort.down : by !== "name" })}>
        {title}
        {active && <Icon name={sort.down ? "arrow-down" : "arrow-up"} class="small" />}
      </button>
    </th>
  );
}

function Row({ line }: { line: Line }) {
  const chosen = splitValues(param("name"));
  const active = chosen.includes(line.name);
  const choose = () =>
    setQuery({ name: active ? chosen.filter((each) => each !== line.name) : [...chosen, line.name] });
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="breakdown-name"
          aria-pressed={active}
          disabled={!line.name}
          onClick={choose}
          title={line.name}
        >
          <Icon name={KIND_ICONS[line.kind]} class={`kind-${line.kind}`} />
          <span>{line.name || `(${line.kind} without a name)`}</span>
        </button>
      </th>
      <td class="number">{exact(line.calls)}</td>
      <td class={line.errors ? "number err" : "number dim"}>{exact(line.errors)}</td>
      <td class="number" title={`${line.time} ms`}>
        {duration(line.time)}
      </td>
      <td class="number" title={line.p95 === null ? undefined : `${line.p95} ms`}>
        {line.p95 === null ? "" : duration(line.p95)}
      </td>
      <td class="number" title={line.tokens === null ? undefined : String(line.tokens)}>
        {line.tokens === null ? "" : compact(line.tokens)}
      </td>
    </tr>
  );
}
