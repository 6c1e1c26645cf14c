import { useEffect } from "preact/hooks";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { sqlPath } from "../kit/list/sql-link";
import { Page, type PageProps } from "../kit/page";
import { navigate, param, remembered } from "../kit/router";
import { pathOf } from "../kit/url";
import { readQuery, readStatement } from "./api";
import { fitsUrl, isListed } from "./model";
import { LONG, RAN } from "./use-statement";
import { Workbench } from "./workbench";

/** The page "SQL", with a saved query where the path has one, or the statement of a list. */
export default function QueriesPage({ org, id }: PageProps) {
  const load = useLoad(id ? `query ${org} ${id}` : null, (options) => readQuery(id, options));
  const of = param("of");
  if (!id && of !== null && isListed(of)) return <OfList org={org} of={of} />;
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

/** Asks for the statement that answers like a list, and opens it in place of this step of the history. */
function OfList({ org, of }: { org: string; of: string }) {
  const load = useLoad(`statement ${org} ${of}`, (options) => readStatement(of, options));
  const sql = load.current ? load.data : undefined;
  useEffect(() => {
    if (sql === undefined) return;
    const state = { [RAN]: remembered<boolean>(RAN) === true, ...(!fitsUrl(sql) && { [LONG]: sql }) };
    void navigate(fitsUrl(sql) ? sqlPath(org, sql) : pathOf(org, "sql"), { replace: true, state });
  }, [sql]);
  return (
    <Page title="SQL">
      <Loaded load={{ ...load, data: undefined }}>{() => null}</Loaded>
    </Page>
  );
}
