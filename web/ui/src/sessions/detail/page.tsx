import { useEffect, useMemo, useState } from "preact/hooks";
import { can } from "../../api/session";
import { Skeleton } from "../../kit/data/loaded";
import { Failed, Forbidden } from "../../kit/data/states";
import { Icon } from "../../kit/icon";
import { useNarrow, useSideless } from "../../kit/media";
import { Tabs } from "../../kit/overlay/tabs";
import { Page, type PageProps } from "../../kit/page";
import { param, setQuery } from "../../kit/router";
import { formatMoment } from "../../kit/time/time";
import { zone } from "../../kit/time/zone";
import { Evaluations, useEvaluations } from "./evaluations/evaluations";
import { Actions } from "./header/actions";
import { Facts } from "./header/facts";
import { useFilterRow } from "./header/filters";
import { Find } from "./header/find";
import { StateBadge } from "./header/state-badge";
import { useNeighbours } from "./header/use-neighbours";
import { ViewMenu } from "./header/view-menu";
import { useSessionKeys } from "./keys";
import { Minimap } from "./minimap/minimap";
import { Breakdown } from "./panel/breakdown";
import { EventPanel, type EventTab } from "./panel/event";
import { Payloads } from "./payloads";
import { Source } from "./source";
import { chosenEvent, chosenView, showsGaps } from "./state";
import { EventTable } from "./table/table";
import { PrintButton } from "./transcript/print";
import { Transcript } from "./transcript/transcript";
import { useLater } from "./use-later";
import { View } from "./view";
import { Waterfall } from "./waterfall/waterfall";

const TICK_MS = 1000;

export default function SessionPage({ org, id }: PageProps) {
  const view = useMemo(() => new View(new Source(id)), [id]);
  const payloads = useMemo(() => new Payloads(id), [id]);
  const [tab, setTab] = useState<EventTab>("payload");
  const { source } = view;
  useEffect(() => {
    source.start(chosenEvent.peek());
    // To load the rules of a zone takes 15 ms. The answer is on its way meanwhile.
    const timer = setTimeout(() => formatMoment(new Date(), zone.peek()));
    return () => {
      clearTimeout(timer);
      source.dispose();
    };
  }, [source]);
  useClock(view);
  const { newer, older, links } = useNeighbours(org, view);
  useSessionKeys(view, { onTab: setTab, newer, older });
  const refresh = () => source.refresh(chosenEvent.peek());
  const error = source.error.value ?? (can("events:read") ? null : source.factsError.value);
  return (
    <Page
      title={id}
      mono
      badges={<StateBadge view={view} />}
      actions={<Actions view={view} org={org} links={links} onRefresh={refresh} />}
    >
      {error ? <Failed error={error} onRetry={refresh} /> : null}
      {(!error || view.session.value) && <Content view={view} payloads={payloads} tab={tab} onTab={setTab} />}
    </Page>
  );
}

/** Moves the clock while the session runs, and once when the tab is looked at again. */
function useClock(view: View): void {
  const running = view.state.value === "running";
  useEffect(() => {
    if (!running) return;
    const tick = () => document.hidden || (view.clock.value = Date.now());
    const timer = setInterval(tick, TICK_MS);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [view, running]);
}

interface ContentProps {
  view: View;
  payloads: Payloads;
  tab: EventTab;
  onTab: (tab: EventTab) => void;
}

function Content(props: ContentProps) {
  const { view } = props;
  const events = can("events:read");
  if (events && !view.session.value) return <Skeleton rows={12} />;
  return (
    <div class="session" aria-busy={events && !view.source.complete.value}>
      <Facts view={view} />
      {view.source.missing.value && (
        <p class="notice warn" role="status">
          The event of this link is not part of the session.
        </p>
      )}
      {events && view.session.value!.outline.length > 0 && <Minimap view={view} />}
      <Body {...props} />
    </div>
  );
}

function Body({ view, payloads, tab, onTab }: ContentProps) {
  const events = can("events:read");
  const filterRow = useFilterRow(view);
  const asDialog = useSideless();
  const narrow = useNarrow();
  const results = useEvaluations(view);
  const name = events ? chosenView.value : param("view") === null ? "evaluations" : chosenView.value;
  const tabs = [
    { id: "waterfall", label: "Waterfall" },
    { id: "transcript", label: "Transcript" },
    { id: "evaluations", label: "Evaluations", count: results.data?.length || undefined },
    { id: "table", label: "Table" },
  ];
  const agents = view.session.value?.outline.agents.length ?? 0;
  const aside = events && name !== "evaluations" && (
    <div class="session-tools">
      <Find view={view} />
      {narrow ? filterRow.row : filterRow.button}
      {view.hasGaps.value && (
        <button
          type="button"
          class="button ghost"
          aria-pressed={showsGaps.value}
          onClick={() => setQuery({ gaps: showsGaps.value ? null : "1" })}
        >
          Show gaps
        </button>
      )}
      <ViewMenu />
      {name === "transcript" && <PrintButton view={view} payloads={payloads} />}
      <span class="agent-count">
        <Icon name="list-tree" />
        {agents === 1 ? "1 agent" : `${agents} agents`}
      </span>
    </div>
  );
  return (
    <Tabs
      label="Session"
      tabs={tabs}
      value={name}
      onChange={(next) => setQuery({ view: next === "waterfall" && events ? null : next })}
      aside={aside}
      class="session-panel"
    >
      {events && name !== "evaluations" && !narrow && filterRow.row}
      <div class="session-split">
        <div class="session-main">
          <Shown view={view} payloads={payloads} name={name} results={results} onOpen={() => onTab("payload")} />
        </div>
        {events && name !== "evaluations" && (
          <Side view={view} payloads={payloads} tab={tab} onTab={onTab} asDialog={asDialog} />
        )}
      </div>
    </Tabs>
  );
}

interface ShownProps {
  view: View;
  payloads: Payloads;
  name: string;
  results: ReturnType<typeof useEvaluations>;
  onOpen: () => void;
}

function Shown({ view, payloads, name, results, onOpen }: ShownProps) {
  if (name === "evaluations")
    return can("evaluations:read") ? (
      <Evaluations view={view} results={results} />
    ) : (
      <Forbidden permission="evaluations:read" />
    );
  if (!can("events:read")) return <Forbidden permission="events:read" />;
  if (name === "transcript") return <Transcript view={view} payloads={payloads} />;
  if (name === "table") return <EventTable view={view} />;
  return <Waterfall view={view} onOpen={onOpen} />;
}

/** The chosen event, else the breakdown. Below 1100 px the event is a dialog, and the breakdown stays away. */
function Side({ view, asDialog, ...rest }: ContentProps & { asDialog: boolean }) {
  if (!useLater(true)) return asDialog ? null : <div class="session-side" />;
  if (view.chosen.value >= 0) return <EventPanel view={view} asDialog={asDialog} {...rest} />;
  return asDialog ? null : <Breakdown view={view} />;
}
