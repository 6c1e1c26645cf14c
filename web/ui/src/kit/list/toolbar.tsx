import { curlOf, type Described } from "../data/curl";
import { Icon } from "../icon";
import type { IconName } from "../icon-names";
import { organization } from "../organization";
import { useShortcuts } from "../shortcuts";
import { copy } from "../text/clipboard";
import { zone } from "../time/zone";
import { searchOf } from "../url";
import { SqlLink } from "./sql-link";

interface Props {
  /** The request that reads what the view shows. */
  curl: () => Described;
  /** A statement that answers the same, or the request that has one. None: there is none. */
  sql?: (() => string | Described) | undefined;
  /** The values of its parameters, as people type them. */
  typed?: Readonly<Record<number, string>> | undefined;
  onRefresh: () => void;
}

interface ActionProps {
  label: string;
  icon: IconName;
  onClick: () => void;
}

function Action({ label, icon, onClick }: ActionProps) {
  return (
    <button type="button" class="button ghost" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

/** The URL of this view for somebody else: with the time zone written out. */
export function linkHere(): string {
  const url = new URL(location.href);
  url.searchParams.set("tz", zone.peek());
  return url.origin + url.pathname + searchOf(url.searchParams);
}

/** The toolbar "View", which every view of data has. */
export function ViewToolbar({ curl, sql, typed, onRefresh }: Props) {
  const org = organization();
  const copyLink = () => void copy(linkHere(), "Copy link");
  useShortcuts([
    { keys: "r", label: "Refresh", run: onRefresh },
    { keys: "c", label: "Copy link", run: copyLink },
  ]);
  return (
    <div class="view-toolbar" role="toolbar" aria-label="View">
      <Action label="Copy link" icon="link" onClick={copyLink} />
      <Action
        label="Copy as curl"
        icon="square-terminal"
        onClick={() => void copy(curlOf(curl(), org, location.origin), "Copy as curl")}
      />
      {sql && (
        <SqlLink sql={sql} typed={typed} class="button ghost" label="Open in SQL">
          <Icon name="database" />
        </SqlLink>
      )}
      <Action label="Refresh" icon="refresh-cw" onClick={onRefresh} />
    </div>
  );
}
