import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../kit/icon";
import { KIND_ICONS, kindOf } from "../../kit/list/kinds";
import { reveal, useVirtual } from "../../kit/list/virtual";
import { useNarrow } from "../../kit/media";
import { param, setQuery } from "../../kit/router";
import { exact } from "../../kit/text/formats";
import type { Outline } from "../detail/model/outline";
import type { Differences } from "./differences";
import type { Comparison } from "./load";
import { firstDivergence, WINDOW } from "./model/align";

const HEAD = 33;

/** The chosen line of the alignment, or -1. */
export function chosenLine(): number {
  return Number(param("row") ?? 0) - 1;
}

export function chooseLine(line: number): void {
  setQuery({ row: line < 0 ? null : line + 1 });
}

/** Both sessions beside each other: equal events on one line, others alone. */
export function Alignment({ comparison, differences }: { comparison: Comparison; differences: Differences }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [left, right] = [comparison.left.outline!, comparison.right.outline!];
  const aligned = comparison.aligned!;
  const narrow = useNarrow();
  const rowHeight = narrow ? 57 : 32;
  const count = aligned.left.length;
  const range = useVirtual(scroller, count, rowHeight, { head: narrow ? 0 : HEAD });
  const line = chosenLine();
  useEffect(() => {
    if (line >= 0 && scroller.current) reveal(scroller.current, line, rowHeight, narrow ? 0 : HEAD);
  }, [line, rowHeight]);
  useEffect(() => differences.look(range.first, range.last), [range.first, range.last]);
  const lines = Array.from({ length: Math.max(0, range.last - range.first) }, (_, index) => range.first + index);
  return (
    <div class="event-table alignment" ref={scroller}>
      <table aria-label="Alignment" aria-rowcount={count + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="number">
              Event
            </th>
            <th scope="col" class="mono">
              {comparison.left.id}
            </th>
            <th scope="col" class="number">
              Event
            </th>
            <th scope="col" class="mono">
              {comparison.right.id}
            </th>
          </tr>
        </thead>
        <tbody>
          <tr aria-hidden="true" class="space" style={{ height: `${range.first * rowHeight}px` }} />
          {lines.map((at) => {
            const [one, other] = [aligned.left[at]!, aligned.right[at]!];
            const classes = [differences.has(at) ? "differs" : "", at === line ? "selected" : ""]
              .filter(Boolean)
              .join(" ");
            return (
              <tr
                key={at}
                class={classes}
                aria-rowindex={at + 2}
                aria-selected={at === line}
                onClick={() => chooseLine(at)}
              >
                <Cell outline={left} event={one} line={at} />
                <Cell outline={right} event={other} line={at} differs={one >= 0 && other >= 0 && differences.has(at)} />
              </tr>
            );
          })}
          <tr aria-hidden="true" class="space" style={{ height: `${(count - range.last) * rowHeight}px` }} />
        </tbody>
      </table>
    </div>
  );
}

function Cell({
  outline,
  event,
  line,
  differs = false,
}: {
  outline: Outline;
  event: number;
  line: number;
  differs?: boolean;
}) {
  if (event < 0)
    return (
      <>
        <td class="number" />
        <td class="dim">nothing here</td>
      </>
    );
  const failed = outline.error[event] === 1;
  const kind = kindOf(outline.types[outline.type[event]!]!);
  return (
    <>
      <td class="number dim">{event + 1}</td>
      <td>
        <Icon name={failed ? "circle-alert" : KIND_ICONS[kind]} class={failed ? "err" : `kind-${kind}`} />
        <button type="button" class={failed ? "link err" : "link"} onClick={() => chooseLine(line)}>
          {outline.types[outline.type[event]!]}
        </button>
        {failed && <span class="visually-hidden"> failed</span>}
        {differs && <span class="visually-hidden"> differs</span>}{" "}
        <span class="soft">{outline.summary[event] || outline.names[outline.name[event]!] || ""}</span>
      </td>
    </>
  );
}

/**
 * "Same steps up to event 41", or "Identical…" where the payloads were compared and are equal, and the button that
 * leads to the next difference.
 */
export function Divergence({ comparison, differences }: { comparison: Comparison; differences: Differences }) {
  const aligned = comparison.aligned!;
  const steps = firstDivergence(aligned);
  const same = steps < 0 ? aligned.left.length : steps;
  const first = differences.after(-1);
  const next = differences.after(chosenLine()) ?? first;
  const words = differences.areEqual(same) ? "Identical" : "Same steps";
  return (
    <div class="divergence">
      <span role="status">
        {steps < 0 ? `${words} in all ${exact(same)} events` : `${words} up to event ${exact(same)}`}
        {first !== null && first < same && `, other texts from event ${exact(first + 1)}`}
      </span>
      {next !== null && (
        <button type="button" class="button" onClick={() => chooseLine(next)}>
          Next difference
        </button>
      )}
      {aligned.windowed && (
        <span class="dim">Aligned in windows of {exact(WINDOW)} rows: a match across their edges can be missed.</span>
      )}
    </div>
  );
}
