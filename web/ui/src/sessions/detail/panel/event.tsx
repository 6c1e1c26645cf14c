import type { ComponentChildren } from "preact";
import { Icon } from "../../../kit/icon";
import { KIND_ICONS } from "../../../kit/list/kinds";
import { Dialog } from "../../../kit/overlay/dialog";
import { Tabs } from "../../../kit/overlay/tabs";
import { CostTab, mayCost } from "../../../kit/prices/cost-view";
import { copy } from "../../../kit/text/clipboard";
import { bytes, duration } from "../../../kit/text/formats";
import { Json } from "../../../kit/text/json";
import { Raw } from "../../../kit/text/long-text";
import { Text } from "../../../kit/text/text";
import { CopyButton } from "../../../kit/text/values";
import { formatClock, formatFully } from "../../../kit/time/time";
import { zone } from "../../../kit/time/zone";
import { clock } from "../model/axis";
import { failureOf, traceOf } from "../model/failure";
import { isClose } from "../model/families";
import { rowText } from "../model/row-text";
import { msOf } from "../model/session";
import type { Payloads } from "../payloads";
import { chooseEvent } from "../state";
import { usePayload } from "../use-payload";
import type { View } from "../view";
import { agentToken } from "../waterfall/palette";
import { moveChoice } from "../waterfall/tree-keys";
import { linkToEvent } from "./link";
import { longestOfName } from "./longest";
import { Trace } from "./trace";

export type EventTab = "payload" | "raw" | "pair" | "cost";

interface Props {
  view: View;
  payloads: Payloads;
  tab: EventTab;
  onTab: (tab: EventTab) => void;
  /** Whether there is no room for it beside the rows. */
  asDialog: boolean;
}

/** The chosen event: beside the rows, or as a dialog over them. */
export function EventPanel(props: Props) {
  const close = () => chooseEvent(null);
  if (props.asDialog) {
    return (
      <Dialog title="Event" kind="side" onClose={close}>
        <EventBody {...props} />
      </Dialog>
    );
  }
  return (
    <aside class="side-panel" aria-label="Event">
      <EventBody {...props} onClose={close} />
    </aside>
  );
}

function EventBody({ view, payloads, tab, onTab, onClose }: Props & { onClose?: () => void }) {
  const session = view.session.value!;
  const { outline, pairs, rows, codes } = session;
  const event = view.chosen.value;
  const id = outline.id[event]!;
  const row = rows.ofEvent[event]!;
  const partner = pairs.partner[event]!;
  // The end of a call says what it cost.
  const call = partner >= 0 && !isClose(codes[event]!) ? partner : event;
  const { payload, error } = usePayload(payloads, id);
  const other = usePayload(payloads, partner >= 0 ? outline.id[partner]! : null);
  const text = rowText(session, row);
  const failed = outline.error[event] === 1 || (partner >= 0 && outline.error[partner] === 1);
  const sentence = failed ? failureOf(payload?.value) || failureOf(other.payload?.value) : "";
  const trace = failed ? traceOf(payload?.value) || traceOf(other.payload?.value) : "";
  const size = payload ? new Blob([payload.raw]).size : null;
  const tabs = [
    { id: "payload", label: "Payload" },
    { id: "raw", label: "Raw" },
    { id: "pair", label: "Pair" },
    ...(mayCost(outline.types[outline.type[call]!]!, !Number.isNaN(outline.costUsd[call]!))
      ? [{ id: "cost", label: "Cost" }]
      : []),
  ];
  const shown = tabs.some((one) => one.id === tab) ? tab : "payload";
  return (
    <>
      <header class="side-head">
        <div class="side-title">
          <Icon name={failed ? "circle-alert" : KIND_ICONS[text.kind]} class={failed ? "err" : `kind-${text.kind}`} />
          <h2 title={text.title}>{text.title}</h2>
          {failed && <span class="pill err">failed</span>}
          <span class="grow" />
          <Tool icon="chevron-up" label="Previous event" onClick={() => moveChoice(view, -1)} />
          <Tool icon="chevron-down" label="Next event" onClick={() => moveChoice(view, 1)} />
          <Tool
            icon="link"
            label="Copy link to event"
            onClick={() => void copy(linkToEvent(id), "Copy link to event")}
          />
          <Tool
            icon="copy"
            label="Copy payload"
            onClick={() => void payloads.get(id).then(({ raw }) => copy(raw, "Copy payload"))}
          />
          {onClose && <Tool icon="x" label="Close" onClick={onClose} />}
        </div>
        <Head view={view} event={event} partner={partner} />
      </header>
      {sentence && (
        <p class="box-err">
          <CopyButton label="Copy message" text={() => sentence} />
          <Text>{sentence}</Text>
        </p>
      )}
      {trace && <Trace key={id} text={trace} />}
      <Tabs
        label="Event"
        tabs={tabs}
        value={shown}
        onChange={(next) => onTab(next as EventTab)}
        class="side-scroll"
        aside={
          size !== null && (
            <span class="side-size" title={`${size} bytes`}>
              {bytes(size)}
            </span>
          )
        }
      >
        {error ? (
          <p class="side-note err" role="alert">
            The payload did not load: {error instanceof Error ? error.message : String(error)}
          </p>
        ) : null}
        {shown === "payload" && payload && <Json key={id} label="Payload" value={payload.value} size={size!} />}
        {shown === "raw" && payload && <Raw key={id} text={payload.raw} />}
        {shown === "pair" && <Pair view={view} event={event} partner={partner} />}
        {shown === "cost" && <CostTab session={view.source.id} event={outline.id[call]!} />}
      </Tabs>
    </>
  );
}

function Tool({
  icon,
  label,
  onClick,
}: {
  icon: Parameters<typeof Icon>[0]["name"];
  label: string;
  onClick: () => void;
}) {
  return (
    <button type="button" class="button ghost" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

interface Part {
  view: View;
  event: number;
  partner: number;
}

function Head({ view, event, partner }: Part) {
  const session = view.session.value!;
  const { outline, pairs } = session;
  const at = new Date(outline.ts[event]! / 1000);
  const latency = partner >= 0 ? pairs.latencyMs[event]! : outline.durationMs[event]!;
  const agent = outline.agent[event]!;
  return (
    <dl class="facts-list">
      <Fact name="Time">
        <time dateTime={at.toISOString()} title={formatFully(at, zone.value)}>
          {formatClock(at, zone.value)}
        </time>
        <span class="dim"> · {clock(msOf(session, event), 1)} after the start</span>
      </Fact>
      {!Number.isNaN(latency) && (
        <Fact name="Took">
          <span title={`${latency} ms`}>{duration(latency)}</span>
          <span class="dim">{longestOfName(session, event)}</span>
        </Fact>
      )}
      <Fact name="Agent">
        <i class="dot" style={{ background: `var(--${agentToken(agent)})` }} /> {outline.agents[agent]!.agent_id}
      </Fact>
      <Fact name="Type">{outline.types[outline.type[event]!]}</Fact>
      <Fact name="Event">
        <span class="mono">{outline.id[event]}</span>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Start and end beside each other, each a way to the other. */
function Pair({ view, event, partner }: Part) {
  const { outline, pairs, codes } = view.session.value!;
  if (codes[event] === 0) return <p class="side-note soft">Events of this type stand alone.</p>;
  if (partner < 0) {
    const text = isClose(codes[event]!)
      ? "No start belongs to this end."
      : view.state.value === "running"
        ? "It has no end yet."
        : "It never finished.";
    return <p class="side-note soft">{text}</p>;
  }
  const [start, end] = isClose(codes[event]!) ? [partner, event] : [event, partner];
  return (
    <dl class="facts-list pair">
      <Fact name="Latency">
        <span title={`${pairs.latencyMs[end]} ms`}>{duration(pairs.latencyMs[end]!)}</span>
      </Fact>
      {[start, end].map((each, index) => (
        <Fact key={each} name={index ? "End" : "Start"}>
          <button
            type="button"
            class="link"
            aria-current={each === event}
            onClick={() => chooseEvent(outline.id[each]!)}
          >
            {outline.types[outline.type[each]!]}
          </button>
          <span class="dim"> {formatClock(new Date(outline.ts[each]! / 1000), zone.value)}</span>
          <span class="pair-summary">
            <Text>{outline.summary[each]!}</Text>
          </span>
        </Fact>
      ))}
    </dl>
  );
}
