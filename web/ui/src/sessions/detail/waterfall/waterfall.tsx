import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useVirtual, type Virtual } from "../../../kit/list/virtual";
import { useNarrow } from "../../../kit/media";
import { duration } from "../../../kit/text/formats";
import { clock, ticks, toAxis } from "../model/axis";
import { isOpen } from "../model/session";
import { chooseEvent } from "../state";
import type { View } from "../view";
import { drawBars } from "./bars";
import { type Column, chosenColumns, mainEvent } from "./columns";
import { foldAgent } from "./fold";
import { palette, themes } from "./palette";
import { rowId, WaterfallRow } from "./row";
import { treeKeys } from "./tree-keys";
import { useAnchor } from "./use-anchor";

const HEAD = 26;
// The widths of all that stands left of the time, of a further column, and of both edges of narrow bars; as in the
// style sheet.
const BEFORE_TIME = 425;
const NUMBER = 64;
const NARROW_EDGES = 32;
const NO_COLUMNS: Column[] = [];

interface Props {
  view: View;
  onOpen: () => void;
}

/** The treegrid of a session: virtual rows, and one canvas with the bars of those that are on show. */
export function Waterfall({ view, onOpen }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const session = view.session.value!;
  const visible = view.visible.value;
  const narrow = useNarrow();
  const rowHeight = narrow ? 40 : 26;
  const { before, after } = placeholders(view);
  const count = before + visible.length + after;
  const range = useVirtual(scroller, count, rowHeight, { head: narrow ? 0 : HEAD });
  const columns = narrow ? NO_COLUMNS : chosenColumns();
  const chosenRow = view.chosenRow.value;
  const running = view.state.value === "running";
  useAnchor(view, scroller, {
    rowHeight,
    head: narrow ? 0 : HEAD,
    height: range.height,
    before,
    scrolled: range.scrolled,
  });
  const fold = (row: number) => foldAgent(view, row);
  const onKeyDown = treeKeys(view, { onOpen, fold });
  // One listener for all rows: they come and go as one scrolls.
  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const row = Number(target.closest<HTMLElement>("[data-row]")?.dataset["row"] ?? -1);
    if (row < 0) return;
    if (target.closest(".wf-fold")) fold(row);
    else chooseEvent(session.outline.id[mainEvent(session, row)]!);
  };
  const lines = [];
  for (let index = range.first; index < range.last; index++) {
    const row = index < before ? undefined : visible[index - before];
    if (row === undefined) {
      lines.push(
        <div
          class="wf-row wf-missing"
          role="row"
          aria-rowindex={index + 2}
          aria-busy="true"
          key={`missing-${index}`}
          style={{ top: `${index * rowHeight}px` }}
        >
          <div role="gridcell" class="wf-event" />
        </div>,
      );
      continue;
    }
    lines.push(
      <WaterfallRow
        key={row}
        session={session}
        row={row}
        index={index}
        height={rowHeight}
        selected={row === chosenRow}
        running={running}
        now={isOpen(session, row) || session.rows.isAgent[row] ? view.now.value : 0}
        matching={isMatch(view, row)}
        folded={session.rows.isAgent[row] === 1 && view.folded.value.has(session.rows.agent[row]!)}
        columns={columns}
      />,
    );
  }
  return (
    <div
      class="waterfall"
      role="treegrid"
      aria-label="Events of session"
      tabIndex={0}
      ref={scroller}
      data-columns={columns.length}
      aria-rowcount={view.source.complete.value ? count + 1 : -1}
      aria-readonly="true"
      onKeyDown={onKeyDown}
      onClick={onClick}
      aria-activedescendant={chosenRow >= 0 ? rowId(chosenRow) : undefined}
    >
      <div class="wf-head" role="row" aria-rowindex={1}>
        <span role="columnheader">Event</span>
        <span role="columnheader" class="wf-number">
          Duration
        </span>
        {columns.map((column) => (
          <span role="columnheader" class="wf-number" key={column.key}>
            {column.title}
          </span>
        ))}
        <TimeHead view={view} width={Math.max(100, range.width - BEFORE_TIME - NUMBER * columns.length)} />
      </div>
      <div class="wf-body" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {lines}
        <Bars
          view={view}
          range={range}
          before={before}
          rowHeight={rowHeight}
          narrow={narrow}
          columns={columns.length}
        />
      </div>
    </div>
  );
}

/** Rows that are not there yet, guessed from those that are; none while filters choose among them. */
function placeholders(view: View): { before: number; after: number } {
  const { outline } = view.session.value!;
  if (view.visible.value.length < view.session.value!.rows.length || outline.length === 0)
    return { before: 0, after: 0 };
  const share = view.session.value!.rows.length / outline.length;
  return { before: Math.round(outline.before * share), after: Math.round(outline.after * share) };
}

function isMatch(view: View, row: number): boolean {
  const bits = view.matching.value;
  const { start, end } = view.session.value!.rows;
  return bits !== null && ((start[row]! >= 0 && bits[start[row]!] === 1) || (end[row]! >= 0 && bits[end[row]!] === 1));
}

function shownTicks(view: View, width: number): number[] {
  const { from, to } = view.window.value;
  return view.axis.value ? ticks(view.axis.value, from, to, Math.max(2, width / 60)) : [];
}

/** @param width the pixels of the axis */
function TimeHead({ view, width }: { view: View; width: number }) {
  const axis = view.axis.value!;
  const { from, to } = view.window.value;
  const place = (ms: number) => `${((toAxis(axis, ms) - from) / (to - from)) * 100}%`;
  // A label at the very edge would be cut.
  const pixel = (ms: number) => ((toAxis(axis, ms) - from) / (to - from)) * width;
  const at = shownTicks(view, width).filter((ms) => pixel(ms) > 14 && pixel(ms) < width - 14);
  const step = at.length > 1 ? Math.min(...at.slice(1).map((ms, index) => ms - at[index]!)) : 1000;
  return (
    <span role="columnheader" class="wf-axis" aria-label="Time">
      {/* A header needs words, also before the axis has its width and where no label fits. */}
      {at.length === 0 && <span style={{ insetInlineStart: "50%" }}>Time</span>}
      {at.map((ms) => (
        <span key={ms} style={{ insetInlineStart: place(ms) }}>
          {clock(ms, step)}
        </span>
      ))}
      {axis.gaps
        .filter((gap) => gap.at >= from && gap.at + gap.width <= to)
        .map((gap) => (
          <span
            key={`gap-${gap.from}`}
            class="wf-gap"
            title={`nothing for ${duration(gap.to - gap.from)}`}
            style={{ insetInlineStart: place((gap.from + gap.to) / 2) }}
          >
            {duration(gap.to - gap.from)}
          </span>
        ))}
    </span>
  );
}

interface BarsProps {
  view: View;
  range: Virtual;
  before: number;
  rowHeight: number;
  narrow: boolean;
  columns: number;
}

function Bars({ view, range, before, rowHeight, narrow, columns }: BarsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const rows = useMemo(() => {
    const { visible } = view;
    return Int32Array.from(
      { length: range.last - range.first },
      (_, line) => visible.value[range.first + line - before] ?? -1,
    );
  }, [view.visible.value, range.first, range.last, before]);
  useLayoutEffect(() => {
    const element = canvas.current;
    const axis = view.axis.value;
    if (!element || !axis || !range.width) return;
    element.style.height = `${rows.length * rowHeight}px`;
    const width = Math.max(1, range.width - (narrow ? NARROW_EDGES : BEFORE_TIME + NUMBER * columns));
    drawBars(
      element,
      width,
      {
        session: view.session.value!,
        axis,
        window: view.window.value,
        rows,
        rowHeight,
        now: view.now.value,
        top: narrow ? 27 : 7,
        thickness: narrow ? 6 : 12,
        labels: !narrow,
        ticks: narrow ? [] : shownTicks(view, width),
        running: view.state.value === "running",
      },
      palette(),
    );
  }, [
    rows,
    view.session.value,
    view.axis.value,
    view.window.value,
    view.now.value,
    view.state.value,
    themes.value,
    range.width,
    narrow,
    columns,
  ]);
  return <canvas class="wf-bars" ref={canvas} aria-hidden="true" style={{ top: `${range.first * rowHeight}px` }} />;
}
