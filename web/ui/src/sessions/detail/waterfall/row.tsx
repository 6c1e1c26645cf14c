import { Component, type ComponentChildren } from "preact";
import { Icon } from "../../../kit/icon";
import { KIND_ICONS } from "../../../kit/list/kinds";
import { compact, duration } from "../../../kit/text/formats";
import { clock } from "../model/axis";
import { elapsed } from "../model/live";
import { type RowText, rowText } from "../model/row-text";
import { durationOf, isOpen, msOf, type Session } from "../model/session";
import { type Column, mainEvent } from "./columns";
import { agentToken } from "./palette";

const MOST_INDENT = 10;

interface Props {
  session: Session;
  row: number;
  /** Its place among the rows on show, from 0. */
  index: number;
  /** Pixels. */
  height: number;
  selected: boolean;
  matching: boolean;
  folded: boolean;
  running: boolean;
  /** 0 for rows that time does not change. */
  now: number;
  columns: Column[];
}

export function rowId(row: number): string {
  return `wf-row-${row}`;
}

/** A row, drawn again only when one of its properties differs: scrolling leaves most rows alone. */
export class WaterfallRow extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== this.props[name]);
  }

  override render(): ComponentChildren {
    return <Content {...this.props} />;
  }
}

function Content(props: Props) {
  const { session, row, index, height, selected, matching, folded, columns } = props;
  const { rows } = session;
  const text = rowText(session, row);
  const level = rows.level[row]!;
  const holds = rows.isAgent[row] === 1 && rows.last[row]! > row + 1;
  const classes = ["wf-row", selected && "selected", matching && "match"].filter(Boolean).join(" ");
  return (
    <div
      class={classes}
      role="row"
      id={rowId(row)}
      aria-rowindex={index + 2}
      aria-level={level}
      aria-selected={selected}
      aria-expanded={holds ? !folded : undefined}
      data-row={row}
      style={{ top: `${index * height}px` }}
    >
      <div
        class="wf-event"
        role="gridcell"
        style={{ paddingInlineStart: `${Math.min(level - 1, MOST_INDENT) * 16}px` }}
      >
        <Rail session={session} row={row} />
        {holds && <Fold {...props} name={text.title} />}
        <Icon name={text.failed ? "circle-alert" : KIND_ICONS[text.kind]} class={iconClass(text)} />
        <b class={text.failed ? "err" : undefined} title={text.title}>
          {text.title}
        </b>
        {text.failed && <span class="visually-hidden">failed</span>}
        <Waiting {...props} />
        <span class="wf-detail">{text.detail}</span>
      </div>
      <Duration {...props} />
      {columns.map((column) => (
        <div class="wf-number" role="gridcell" key={column.key} title={column.exact?.(session, row)}>
          {column.text(session, row)}
        </div>
      ))}
      <div class="wf-time" role="gridcell">
        <span class="visually-hidden">{timeText(session, row, text)}</span>
      </div>
    </div>
  );
}

function iconClass(text: RowText): string {
  return text.failed ? "err" : `kind-${text.kind}`;
}

/** The bar says the same: when the row begins, and the tokens beside it. */
function timeText(session: Session, row: number, text: RowText): string {
  const tokens =
    text.inputTokens === null && text.outputTokens === null
      ? ""
      : `, ${compact(text.inputTokens ?? 0)} tokens in, ${compact(text.outputTokens ?? 0)} out`;
  return `at ${clock(msOf(session, mainEvent(session, row)), 1)}${tokens}`;
}

/** Lines at the left in the colours of the agents around the row. */
function Rail({ session: { rows }, row }: { session: Session; row: number }) {
  const parent = rows.parent[row]!;
  if (parent < 0) return null;
  const left = `${Math.min(rows.level[row]! - 1, MOST_INDENT) * 16 - 8}px`;
  return (
    <i
      class="wf-rail"
      aria-hidden="true"
      style={{ insetInlineStart: left, background: `var(--${agentToken(rows.agent[parent]!)})` }}
    />
  );
}

function Fold({ folded, name }: Props & { name: string }) {
  return (
    <button type="button" class="wf-fold" tabIndex={-1} aria-label={`${folded ? "Unfold" : "Fold"} ${name}`}>
      <Icon name={folded ? "chevron-right" : "chevron-down"} class="small" />
    </button>
  );
}

function Waiting({ session, row, running, now }: Props) {
  if (!isOpen(session, row)) return null;
  // Agents are open as long as the session is; their duration says enough.
  if (running && session.rows.isAgent[row]) return null;
  if (!running) return <span class="wf-open warn">never finished</span>;
  return <span class="wf-open info">running {elapsed(durationOf(session, row, now) ?? 0)}</span>;
}

function Duration({ session, row, running, now }: Props) {
  const open = isOpen(session, row);
  const took = open && !running ? null : durationOf(session, row, now);
  return (
    <div class={open ? "wf-number info" : "wf-number"} role="gridcell" title={took === null ? undefined : `${took} ms`}>
      {took === null ? "" : open ? elapsed(took) : duration(took)}
    </div>
  );
}
