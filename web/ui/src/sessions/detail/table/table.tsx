import { useMemo, useRef } from "preact/hooks";
import { Icon } from "../../../kit/icon";
import { KIND_ICONS, kindOf } from "../../../kit/list/kinds";
import { useVirtual } from "../../../kit/list/virtual";
import { useNarrow } from "../../../kit/media";
import { compact, duration } from "../../../kit/text/formats";
import { Text } from "../../../kit/text/text";
import { formatClock, formatFully } from "../../../kit/time/time";
import { zone } from "../../../kit/time/zone";
import { chooseEvent } from "../state";
import type { View } from "../view";

const HEAD = 33;

/** All events as a plain table, as they arrived; virtual, because there can be 100,000. */
export function EventTable({ view }: { view: View }) {
  const scroller = useRef<HTMLDivElement>(null);
  const { outline } = view.session.value!;
  const kept = view.keptEvents.value;
  const narrow = useNarrow();
  const rowHeight = narrow ? 57 : 32;
  // Scrolling draws the table again and leaves the list alone.
  const events = useMemo(
    () => Int32Array.from(outline.id.keys()).filter((event) => !kept || kept[event] === 1),
    [outline, kept],
  );
  const range = useVirtual(scroller, events.length, rowHeight, { head: narrow ? 0 : HEAD });
  const chosen = view.chosen.value;
  const complete = view.source.complete.value;
  return (
    <div class="event-table" ref={scroller}>
      <table aria-label="Events" aria-rowcount={complete ? events.length + 1 : -1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Time</th>
            <th scope="col">Type</th>
            <th scope="col">Name</th>
            <th scope="col">Agent</th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col">Summary</th>
          </tr>
        </thead>
        <tbody>
          <tr aria-hidden="true" class="space" style={{ height: `${range.first * rowHeight}px` }} />
          {[...events.subarray(range.first, range.last)].map((event, index) => (
            <Row
              key={outline.id[event]}
              view={view}
              event={event}
              index={range.first + index}
              selected={event === chosen}
            />
          ))}
          <tr aria-hidden="true" class="space" style={{ height: `${(events.length - range.last) * rowHeight}px` }} />
        </tbody>
      </table>
    </div>
  );
}

function Row({ view, event, index, selected }: { view: View; event: number; index: number; selected: boolean }) {
  const { outline } = view.session.value!;
  const at = new Date(outline.ts[event]! / 1000);
  const took = outline.durationMs[event]!;
  const agent = outline.agents[outline.agent[event]!]!.agent_id;
  const tokens = [outline.inputTokens[event]!, outline.outputTokens[event]!].filter((value) => !Number.isNaN(value));
  const failed = outline.error[event] === 1;
  const kind = kindOf(outline.types[outline.type[event]!]!);
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={selected}
      class={selected ? "selected" : undefined}
      onClick={() => chooseEvent(outline.id[event]!)}
    >
      <td>
        <button type="button" class="link" onClick={() => chooseEvent(outline.id[event]!)}>
          <time dateTime={at.toISOString()} title={formatFully(at, zone.value)}>
            {formatClock(at, zone.value)}
          </time>
        </button>
      </td>
      <td class={failed ? "err" : undefined}>
        <Icon name={failed ? "circle-alert" : KIND_ICONS[kind]} class={failed ? "err" : `kind-${kind}`} />
        {outline.types[outline.type[event]!]}
        {failed && <span class="visually-hidden"> failed</span>}
      </td>
      <td>{outline.names[outline.name[event]!] ?? ""}</td>
      <td title={agent}>{agent}</td>
      <td class="number">{Number.isNaN(took) ? "" : <span title={`${took} ms`}>{duration(took)}</span>}</td>
      <td class="number">{tokens.length ? compact(tokens.reduce((sum, value) => sum + value, 0)) : ""}</td>
      <td class="summary">
        <Text>{outline.summary[event]!}</Text>
      </td>
    </tr>
  );
}
