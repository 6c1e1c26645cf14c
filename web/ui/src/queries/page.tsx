import { useLoad } from "../kit/load";
import { Loaded } from "../kit/loaded";
import { Page, type PageProps } from "../kit/page";
import { readQuery } from "./api";
import { Workbench } from "./workbench";

/** The page "SQL", with a saved query where the path has one. */
export default function QueriesPage({ org, id }: PageProps) {
  const load = useLoad(id ? `query ${org} ${id}` : null, (options) => readQuery(id, options));
  if (!id) return <Workbench key={org} org={org} query={null} />;
  const saved = load.current ? load.data : undefined;
  // One page, so that the list of saved queries stays while the next query is read.
  if (saved) return <Workbench key={`${org} ${id}`} org={org} query={saved} onSaved={load.set} />;
  return (
    <Page title="SQL">
      <Loaded load={{ ...load, data: undefined }}>{() => null}</Loaded>
    </Page>
  );
}
