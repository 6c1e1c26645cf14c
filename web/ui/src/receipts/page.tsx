import { useMemo, useState } from "preact/hooks";
import type { Query } from "../api/request";
import { can } from "../api/session";
import { Page, type PageProps } from "../kit/page";
import { param, setQuery } from "../kit/router";
import { Tabs } from "../kit/tabs";
import { boundsOf } from "../kit/time";
import { TimeRange } from "../kit/time-range";
import { ViewToolbar } from "../kit/toolbar";
import { currentRange } from "../kit/zone";
import { PAGE_ROWS } from "./api";
import { Senders, Services, Skipped } from "./tables";

const TABS = [
  { id: "senders", label: "Senders", route: "GET /receipts", permissions: ["events:read", "settings:read"] },
  { id: "otel", label: "OpenTelemetry", route: "GET /otel/status", permissions: ["events:read", "settings:read"] },
  { id: "skipped", label: "Skipped lines", route: "GET /receipts/skipped", permissions: ["events:read"] },
] as const;

/** The page "Sources": what arrived from which sender, and what was skipped. */
export default function SourcesPage({ org }: PageProps) {
  const [turn, setTurn] = useState(0);
  const tabs = TABS.filter(({ permissions }) => permissions.some(can));
  const tab = tabs.find(({ id }) => id === param("view")) ?? tabs[0]!;
  const range = useBounds(turn);
  const query: Query =
    tab.id === "senders" ? { ...range, limit: PAGE_ROWS } : tab.id === "skipped" ? { limit: PAGE_ROWS } : {};
  const key = JSON.stringify([org, turn, query]);
  const actions = (
    <>
      <ViewToolbar curl={() => ({ route: tab.route, query })} onRefresh={() => setTurn((count) => count + 1)} />
      {tab.id === "senders" && <TimeRange standard="24h" />}
    </>
  );
  return (
    <Page title="Sources" actions={actions}>
      <Tabs
        label="Sources"
        tabs={tabs}
        value={tab.id}
        onChange={(id) => setQuery({ view: id === "senders" ? null : id })}
        class="sources-panel"
      >
        {tab.id === "senders" && <Senders org={org} reads={key} query={query} />}
        {tab.id === "otel" && <Services reads={key} />}
        {tab.id === "skipped" && <Skipped reads={key} query={query} />}
      </Tabs>
    </Page>
  );
}

/** The range of the page. It keeps its start while the list is paged. */
function useBounds(turn: number): Query {
  const range = currentRange("24h");
  const { from, to } = useMemo(() => boundsOf(range, Date.now()), [JSON.stringify(range), turn]);
  return { ts_from: from, ts_to: to };
}
