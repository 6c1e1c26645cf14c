import { can } from "../api/session";
import type { SettingRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { ViewToolbar } from "../kit/list/toolbar";
import { Page, type PageProps } from "../kit/page";
import { readSettings } from "./api";
import { grouped } from "./model";
import { Setting } from "./setting";

/** The page "Settings": every setting with its own form. */
export default function SettingsPage({ org }: PageProps) {
  const load = useLoad(`settings ${org}`, readSettings);
  const replace = (rows: SettingRow[], changed: SettingRow) =>
    load.set(rows.map((row) => (row.key === changed.key ? changed : row)));
  return (
    <Page title="Settings" actions={<ViewToolbar curl={() => ({ route: "GET /settings" })} onRefresh={load.reload} />}>
      <Loaded load={load}>
        {(rows) => (
          <div class="settings">
            {grouped(rows).map((group) => (
              <section key={group.title} aria-label={group.title}>
                <h2>{group.title}</h2>
                {group.rows.map((row) => (
                  <Setting
                    key={row.key}
                    row={row}
                    mayWrite={can("settings:write")}
                    onSaved={(changed) => replace(rows, changed)}
                  />
                ))}
              </section>
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  );
}
