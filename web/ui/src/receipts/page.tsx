import type { Query } from "../api/request";
import { can } from "../api/session";
import { useRefresh } from "../kit/data/load";
import { useUrlQuery } from "../kit/data/query";
import { ViewToolbar } from "../kit/list/toolbar";
import { Tabs } from "../kit/overlay/tabs";
import { Page, type PageProps } from "../kit/page";
import { param, setQuery } from "../kit/router";
import { TimeRange } from "../kit/time/time-range";
import { currentRange } from "../kit/time/zone";
import { PAGE_ROWS } from "./api";
import { Senders, Services, Skipped } from "./tables";

const TABS = [
  { id: "senders", label: "Senders", route: "GET /receipts", permissions: ["events:read", "settings:read"] },
  { id: "otel", label: "OpenTelemetry", route: "GET /otel/status", permissions: ["events:read", "settings:read"] },
  { id: "skipped", label: "Skipped lines", route: "GET /receipts/skipped", permissions: ["events:read"] },
] as const;

/** The page "Sources": what arrived from which sender, and what was skipped. */
export default function SourcesPage({ org }: PageProps) {
  const { turn, refresh } = useRefresh();
  const tabs = TABS.filter(({ permissions }) => permissions.some(can));
  const tab = tabs.find(({ id }) => id === param("view")) ?? tabs[0]!;
  const range = useUrlQuery([], currentRange("24h"), turn);
  const query: Query =
    tab.id === "senders" ? { ...range, limit: PAGE_ROWS } : tab.id === "skipped" ? { limit: PAGE_ROWS } : {};
  const reads = [org, turn, query];
  const actions = (
    <>
      <ViewToolbar curl={() => ({ route: tab.route, query })} onRefresh={refresh} />
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
        {tab.id === "senders" && <Senders org={org} reads={reads} query={query} />}
        {tab.id === "otel" && <Services turn={turn} />}
        {tab.id === "skipped" && <Skipped reads={reads} query={query} />}
      </Tabs>
    </Page>
  );
}
