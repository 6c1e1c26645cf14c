import { useEffect } from "preact/hooks";
import { request } from "../api/request";
import { can } from "../api/session";
import { LOOK_EVERY_MS, openIncidents } from "../kit/data/open-incidents";
import { Icon } from "../kit/icon";
import { organization } from "../kit/organization";
import { place } from "../kit/router";
import { pathOf } from "../kit/url";
import { NAVIGATION, type NavEntry, ROUTES } from "../routes";
import { menuOpen } from "./open";
import { Stored } from "./stored";

/** The pages that the person may see. */
export function visibleEntries(): NavEntry[] {
  return NAVIGATION.filter(({ path }) => {
    const route = ROUTES.find((one) => one.path === path);
    return route?.permissions.some(can);
  });
}

/** How many incidents are open; 0 also while that is not known. */
function useOpenIncidents(): number {
  useEffect(() => {
    openIncidents.value = null;
    const controller = new AbortController();
    const read = () => {
      if (!can("incidents:read") || document.hidden) return;
      request("GET /alerts/incidents/count", {}, { retry: false, signal: controller.signal }).then(
        (found) => (openIncidents.value = found.count),
        () => undefined, // The number is an aside: the page itself reports what fails.
      );
    };
    read();
    const timer = setInterval(read, LOOK_EVERY_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, []);
  return openIncidents.value ?? 0;
}

function Entry({ entry, org, count }: { entry: NavEntry; org: string; count: number }) {
  const current = place.value.segments[0] === entry.path;
  return (
    <a href={pathOf(org, entry.path)} aria-current={current ? "page" : undefined}>
      <Icon name={entry.icon} />
      {entry.label}
      {count > 0 && (
        <span class="nav-count" role="img" aria-label={`${count} open`}>
          {count}
        </span>
      )}
    </a>
  );
}

/** The navigation "Main". The frame makes a new one for each organization. */
export function Navigation() {
  const org = organization();
  const path = place.value.segments.join("/");
  const openIncidents = useOpenIncidents();
  useEffect(() => void (menuOpen.value = false), [path]);
  useEffect(() => {
    if (!menuOpen.value) return;
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      menuOpen.value = false;
      document.querySelector<HTMLElement>("[aria-controls=navigation]")?.focus();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [menuOpen.value]);
  const entries = visibleEntries();
  return (
    <nav id="navigation" class="nav" aria-label="Main" data-open={menuOpen.value || undefined}>
      {(["", "Watch", "Administration"] as const).map((group) => {
        const members = entries.filter((entry) => entry.group === group);
        if (!members.length || !org) return null;
        const countOf = (path: string) => (path === "incidents" ? openIncidents : 0);
        const links = members.map((entry) => (
          <Entry key={entry.path} entry={entry} org={org} count={countOf(entry.path)} />
        ));
        return group ? (
          <div key={group} role="group" aria-label={group}>
            <h2 aria-hidden="true">{group}</h2>
            {links}
          </div>
        ) : (
          <div key="first">{links}</div>
        );
      })}
      <Stored />
    </nav>
  );
}
