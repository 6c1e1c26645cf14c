import { can } from "../../api/session";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { Page, type PageProps } from "../../kit/page";
import { readDashboard, readQueries } from "../api";
import { Dashboard } from "./dashboard";

/** The page of a dashboard. */
export default function DashboardPage({ org, id }: PageProps) {
  const load = useLoad(`dashboard ${org} ${id}`, async (options) => {
    // Without the permission tiles have their results, and no names of their queries.
    const queries = can("queries:read") ? readQueries(options) : { queries: [] };
    const [dashboard, listed] = await Promise.all([readDashboard(id, options), queries]);
    return { dashboard, ...listed };
  });
  if (load.data && load.current) return <Dashboard key={id} org={org} {...load.data} onChanged={load.reload} />;
  return (
    <Page title="Dashboard">
      <Loaded load={{ ...load, data: undefined }}>{() => null}</Loaded>
    </Page>
  );
}
