// The commands of the palette: pages and actions at once, and the organization's things as they are read.
import { type Options, request } from "../api/request";
import { can, session } from "../api/session";
import type { IconName } from "../kit/icon-names";
import { organization } from "../kit/organization";
import { prefer } from "../kit/preferences";
import { navigate } from "../kit/router";
import { pathOf } from "../kit/url";
import { signOut } from "./leave";
import { visibleEntries } from "./navigation";
import { shortcutsOpen } from "./open";

export interface Command {
  label: string;
  icon: IconName;
  /** The kind of thing, shown at the right. */
  note: string;
  /** The keys that do the same. */
  keys?: string | undefined;
  run: () => void;
}

function link(label: string, icon: IconName, note: string, path: string, keys?: string): Command {
  return { label, icon, note, keys, run: () => void navigate(path) };
}

/** Pages that the person may see, other organizations, and actions. */
export function fixedCommands(): Command[] {
  const org = organization();
  const pages = org
    ? visibleEntries().map(({ label, icon, path, key }) =>
        link(label, icon, "Page", pathOf(org, path), key && `g ${key}`),
      )
    : [];
  const others = (session.value?.memberships ?? [])
    .filter(({ org_slug }) => org_slug !== org)
    .map(({ org_slug, org_name, is_pending }) =>
      link(org_name, "building-2", is_pending ? "Invitation" : "Organization", pathOf(org_slug, "sessions")),
    );
  const action = (label: string, icon: IconName, run: () => void, keys?: string): Command => ({
    label,
    icon,
    note: "Action",
    keys,
    run,
  });
  return [
    ...pages,
    link("Profile", "user", "Page", "/profile"),
    ...others,
    ...(org && can("alerts:write") ? [link("New alert", "bell", "Action", pathOf(org, "alerts", "new"))] : []),
    ...(org ? [link("Send your first event", "send", "Action", pathOf(org, "start"))] : []),
    action("Keyboard shortcuts", "keyboard", () => void (shortcutsOpen.value = true), "?"),
    action("Dark theme", "moon", () => prefer({ theme: "dark" })),
    action("Light theme", "sun", () => prefer({ theme: "light" })),
    action("Theme of the system", "settings-2", () => prefer({ theme: "system" })),
    action("Sign out", "log-out", () => void signOut()),
  ];
}

/** Leads to the session with the typed id, which may be older than those that were read. */
export function sessionCommand(id: string): Command[] {
  const org = organization();
  if (!org || !id || !(can("events:read") || can("evaluations:read"))) return [];
  return [link(`Open session ${id}`, "text-align-start", "Session", pathOf(org, "sessions", id))];
}

interface Source {
  permission: string;
  read: (org: string, options: Options) => Promise<Command[]>;
}

const RECENT_SESSIONS = 20;

const SOURCES: readonly Source[] = [
  {
    permission: "evaluations:read",
    read: async (org, options) => {
      const { sessions } = await request("GET /sessions", { query: { limit: RECENT_SESSIONS } }, options);
      return sessions.map(({ session_id }) =>
        link(session_id, "text-align-start", "Session", pathOf(org, "sessions", session_id)),
      );
    },
  },
  {
    permission: "queries:read",
    read: async (org, options) => {
      const { queries } = await request("GET /queries", {}, options);
      return queries.map(({ id, name }) => link(name, "database", "Saved query", pathOf(org, "sql", id)));
    },
  },
  {
    permission: "dashboards:read",
    read: async (org, options) => {
      const { dashboards } = await request("GET /dashboards", {}, options);
      return dashboards.map(({ id, name }) =>
        link(name, "layout-dashboard", "Dashboard", pathOf(org, "dashboards", id)),
      );
    },
  },
  {
    permission: "alerts:read",
    read: async (org, options) =>
      (await request("GET /alerts", {}, options)).map(({ id, name }) =>
        link(name, "bell", "Alert", pathOf(org, "alerts", id)),
      ),
  },
  {
    permission: "incidents:read",
    read: async (org, options) => {
      const open = await request("GET /alerts/incidents", { query: { state: "firing,acknowledged" } }, options);
      return open.map(({ id, title }) => link(title, "siren", "Incident", pathOf(org, "incidents", id)));
    },
  },
  {
    permission: "audits:read",
    read: async (org, options) =>
      (await request("GET /audits", {}, options)).map(({ id, name }) =>
        link(name, "scan-search", "Audit", pathOf(org, "audits", id)),
      ),
  },
];

/** Reads the things that have names or ids. A part that fails is left out: its page says why. */
export async function readCommands(onRead: (found: Command[]) => void, signal: AbortSignal): Promise<void> {
  const org = organization();
  if (!org) return;
  const reads = SOURCES.filter(({ permission }) => can(permission)).map(async ({ read }) => {
    try {
      const found = await read(org, { signal, retry: false });
      if (!signal.aborted) onRead(found);
    } catch {
      // Pages and actions still work.
    }
  });
  await Promise.all(reads);
}
