import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { EventSummary } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Icon } from "../kit/icon";
import { EventType } from "../kit/list/event-type";
import { useSideless } from "../kit/media";
import { Dialog } from "../kit/overlay/dialog";
import { Tabs } from "../kit/overlay/tabs";
import { CostView, mayCost } from "../kit/prices/cost-view";
import { useShortcuts } from "../kit/shortcuts";
import { copy } from "../kit/text/clipboard";
import { bytes } from "../kit/text/formats";
import { Json } from "../kit/text/json";
import { Raw } from "../kit/text/long-text";
import { Text } from "../kit/text/text";
import { Moment } from "../kit/text/values";
import { zone } from "../kit/time/zone";
import { pathOf } from "../kit/url";
import { type EventText, readEvent } from "./api";
import { PairView } from "./pair-view";

interface Props {
  org: string;
  session: string;
  /** The event's id. */
  id: string;
  onClose: () => void;
  /** Shows another event of a session in its place. */
  onChoose: (id: number, session: string) => void;
  /** Goes to the next or previous row; null at the end of the list. */
  step: { previous: (() => void) | null; next: (() => void) | null };
}

/** The chosen event: beside the list, or over it where there is no room. */
export function EventPanel(props: Props) {
  const { onClose, org, session, id } = props;
  useShortcuts([{ keys: "Escape", label: "Close the event", run: onClose }]);
  const load = useLoad([org, session, id], (options) => readEvent(session, id, options));
  const asDialog = useSideless();
  const close = asDialog ? null : <Tool icon="x" label="Close" onClick={onClose} />;
  const content = (
    <>
      {!load.data && close && (
        <header class="side-head">
          <div class="side-title">
            <h2 class="grow">Event</h2>
            {close}
          </div>
        </header>
      )}
      <Loaded load={load}>{(read) => <Body {...props} read={read} close={close} />}</Loaded>
    </>
  );
  if (!asDialog)
    return (
      <aside class="side-panel" aria-label="Event">
        {content}
      </aside>
    );
  return (
    <Dialog title="Event" kind="side" onClose={onClose}>
      {content}
    </Dialog>
  );
}

type Tab = "payload" | "raw" | "pair" | "cost";

function Body({ org, step, onChoose, read, close }: Props & { read: EventText; close: ComponentChildren }) {
  const [tab, setTab] = useState<Tab>("payload");
  const { raw, payload, event } = read;
  const id = `${event.id}`;
  const costs = mayCost(event.event_type, event.cost_source !== null);
  const shown = tab === "cost" && !costs ? "payload" : tab;
  const size = new Blob([raw]).size;
  const failure = event.is_error ? wordsOf(payload["error"]) || wordsOf(payload["message"]) : "";
  const address = `${pathOf(org, "sessions", event.session_id)}?e=${id}`;
  return (
    <>
      <header class="side-head">
        <div class="side-title">
          <h2>
            <EventType type={event.event_type} failed={event.is_error} />
          </h2>
          {event.is_error && (
            <span class="pill err" aria-hidden="true">
              failed
            </span>
          )}
          <span class="grow" />
          <Tool icon="chevron-up" label="Previous event" onClick={step.previous} />
          <Tool icon="chevron-down" label="Next event" onClick={step.next} />
          <Tool
            icon="link"
            label="Copy link to event"
            onClick={() =>
              void copy(`${location.origin}${address}&tz=${encodeURIComponent(zone.value)}`, "Copy link to event")
            }
          />
          <Tool icon="copy" label="Copy payload" onClick={() => void copy(raw, "Copy payload")} />
          {close}
        </div>
        <Facts event={event} id={id} address={address} />
      </header>
      {failure && (
        <p class="box-err">
          <Text>{failure}</Text>
        </p>
      )}
      <Tabs
        label="Event"
        tabs={[
          { id: "payload", label: "Payload" },
          { id: "raw", label: "Raw" },
          { id: "pair", label: "Pair" },
          ...(costs ? [{ id: "cost", label: "Cost" }] : []),
        ]}
        value={shown}
        onChange={(next) => setTab(next as Tab)}
        class="side-scroll"
        aside={
          <span class="side-size" title={`${size} bytes`}>
            {bytes(size)}
          </span>
        }
      >
        {shown === "payload" && <Json key={id} label="Payload" value={payload} size={size} />}
        {shown === "raw" && <Raw key={id} text={raw} />}
        {shown === "pair" && (
          <PairView event={event} address={address} onChoose={(other) => onChoose(other, event.session_id)} />
        )}
        {shown === "cost" && <CostView event={{ ...event, payload }} />}
      </Tabs>
    </>
  );
}

/** The words of an error, which may be a text or an object with a message. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  const message = typeof value === "object" && value !== null ? (value as Record<string, unknown>)["message"] : null;
  return typeof message === "string" ? message : "";
}

function Tool({
  icon,
  label,
  onClick,
}: {
  icon: Parameters<typeof Icon>[0]["name"];
  label: string;
  onClick: (() => void) | null;
}) {
  return (
    <button
      type="button"
      class="button ghost"
      aria-label={label}
      title={label}
      disabled={!onClick}
      onClick={onClick ?? undefined}
    >
      <Icon name={icon} />
    </button>
  );
}

function Facts({ event, id, address }: { event: EventSummary; id: string; address: string }) {
  const facts: [string, ComponentChildren][] = [
    ["Time", <Moment at={event.ts} />],
    [
      "Session",
      <a class="link mono" href={address}>
        {event.session_id}
      </a>,
    ],
    ["Agent", event.agent_id],
    ["Environment", event.environment],
    ...(event.error_type ? [["Error type", event.error_type] as [string, string]] : []),
    ["Event", <span class="mono">{id}</span>],
  ];
  return (
    <dl class="facts-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
