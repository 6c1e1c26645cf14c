// The pages of the UI. A page is a row here and a folder beside this file.
import type { ComponentType } from "preact";
import type { IconName } from "./kit/icon-names";
import type { PageProps } from "./kit/page";

export interface Route {
  /** Below `/o/<organization>/`; `:id` stands for an id. */
  path: string;
  /** The h1 where it is always the same, otherwise what stands there meanwhile. */
  title: string;
  /** One of these is needed. */
  permissions: readonly string[];
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

export interface NavEntry {
  path: string;
  label: string;
  icon: IconName;
  group: "" | "Watch" | "Administration";
  /** Pressed after `g`. */
  key?: string;
}

const session = ["events:read", "evaluations:read"];

// Small pages that are used together are one chunk each: what they have in common is packed once.
const reading = (page: keyof typeof import("./reading")) => async () => ({
  default: (await import("./reading"))[page],
});
const dashboards = (page: keyof typeof import("./dashboards/pages")) => async () => ({
  default: (await import("./dashboards/pages"))[page],
});
const watch = (page: keyof typeof import("./watch")) => async () => ({ default: (await import("./watch"))[page] });
const administration = (page: keyof typeof import("./administration")) => async () => ({
  default: (await import("./administration"))[page],
});

export const ROUTES: readonly Route[] = [
  { path: "start", title: "Send your first event", permissions: [], load: () => import("./start/page") },
  { path: "sessions", title: "Sessions", permissions: ["evaluations:read"], load: () => import("./sessions/page") },
  { path: "sessions/:id", title: "Session", permissions: session, load: () => import("./sessions/detail/page") },
  { path: "compare", title: "Compare sessions", permissions: session, load: () => import("./sessions/compare/page") },
  { path: "events", title: "Events", permissions: ["events:read"], load: reading("Events") },
  { path: "errors", title: "Errors", permissions: ["events:read"], load: reading("Errors") },
  { path: "latency", title: "Latency", permissions: ["events:read"], load: reading("Latency") },
  { path: "evaluations", title: "Evaluations", permissions: ["evaluations:read"], load: reading("Evaluations") },
  { path: "costs", title: "Costs", permissions: session, load: reading("Costs") },
  { path: "sql", title: "SQL", permissions: ["queries:read"], load: () => import("./queries/page") },
  { path: "sql/:id", title: "SQL", permissions: ["queries:read"], load: () => import("./queries/page") },
  {
    path: "dashboards",
    title: "Dashboards",
    permissions: ["dashboards:read"],
    load: dashboards("Dashboards"),
  },
  {
    path: "dashboards/:id",
    title: "Dashboard",
    permissions: ["dashboards:read"],
    load: dashboards("Dashboard"),
  },
  { path: "alerts", title: "Alerts", permissions: ["alerts:read"], load: watch("Alerts") },
  { path: "alerts/new", title: "New alert", permissions: ["alerts:write"], load: watch("Alert") },
  { path: "alerts/:id", title: "Alert", permissions: ["alerts:read"], load: watch("Alert") },
  { path: "incidents", title: "Incidents", permissions: ["incidents:read"], load: watch("Incidents") },
  { path: "incidents/:id", title: "Incident", permissions: ["incidents:read"], load: watch("Incident") },
  { path: "audits", title: "Audits", permissions: ["audits:read"], load: watch("Audits") },
  { path: "audits/:id", title: "Audit", permissions: ["audits:read"], load: watch("Audit") },
  { path: "findings", title: "Findings", permissions: ["audits:read"], load: watch("Findings") },
  { path: "findings/:id", title: "Finding", permissions: ["audits:read"], load: watch("Finding") },
  { path: "keys", title: "Keys", permissions: ["keys:read"], load: administration("Keys") },
  { path: "members", title: "Members", permissions: ["users:read"], load: administration("Members") },
  {
    path: "permission-sets",
    title: "Permission sets",
    permissions: ["users:read"],
    load: administration("PermissionSets"),
  },
  { path: "settings", title: "Settings", permissions: ["settings:read"], load: administration("Settings") },
  {
    path: "model-windows",
    title: "Model windows",
    permissions: ["settings:read"],
    load: administration("ModelWindows"),
  },
  { path: "prices", title: "Prices", permissions: ["settings:read"], load: administration("Prices") },
  { path: "audit-log", title: "Audit log", permissions: ["settings:read"], load: administration("AuditLog") },
  { path: "sources", title: "Sources", permissions: ["events:read", "settings:read"], load: administration("Sources") },
  { path: "deletions", title: "Deletions", permissions: ["events:delete"], load: administration("Deletions") },
  { path: "usage", title: "Usage", permissions: ["settings:read"], load: administration("Usage") },
];

export const NAVIGATION: readonly NavEntry[] = [
  { path: "sessions", label: "Sessions", icon: "text-align-start", group: "", key: "s" },
  { path: "events", label: "Events", icon: "list-tree", group: "", key: "e" },
  { path: "errors", label: "Errors", icon: "triangle-alert", group: "", key: "x" },
  { path: "latency", label: "Latency", icon: "activity", group: "", key: "l" },
  { path: "evaluations", label: "Evaluations", icon: "chart-column", group: "", key: "v" },
  { path: "costs", label: "Costs", icon: "coins", group: "", key: "c" },
  { path: "sql", label: "SQL", icon: "database", group: "", key: "q" },
  { path: "dashboards", label: "Dashboards", icon: "layout-dashboard", group: "", key: "d" },
  { path: "alerts", label: "Alerts", icon: "bell", group: "Watch", key: "a" },
  { path: "incidents", label: "Incidents", icon: "siren", group: "Watch", key: "i" },
  { path: "audits", label: "Audits", icon: "scan-search", group: "Watch", key: "u" },
  { path: "findings", label: "Findings", icon: "clipboard-check", group: "Watch" },
  { path: "keys", label: "Keys", icon: "key-round", group: "Administration" },
  { path: "members", label: "Members", icon: "users", group: "Administration" },
  { path: "permission-sets", label: "Permission sets", icon: "shield-check", group: "Administration" },
  { path: "settings", label: "Settings", icon: "sliders-horizontal", group: "Administration" },
  { path: "model-windows", label: "Model windows", icon: "sparkles", group: "Administration" },
  { path: "prices", label: "Prices", icon: "tag", group: "Administration" },
  { path: "audit-log", label: "Audit log", icon: "scroll-text", group: "Administration" },
  { path: "sources", label: "Sources", icon: "upload", group: "Administration" },
  { path: "deletions", label: "Deletions", icon: "trash-2", group: "Administration" },
  { path: "usage", label: "Usage", icon: "chart-pie", group: "Administration" },
];

export interface Match {
  route: Route;
  id: string;
}

/** Finds the page of the segments behind the organization. Fixed words go before ids. */
export function match(segments: readonly string[]): Match | null {
  const fixed = ROUTES.find(({ path }) => path === segments.join("/"));
  if (fixed) return { route: fixed, id: "" };
  const [page, id] = segments;
  const route = ROUTES.find(({ path }) => path === `${page}/:id`);
  return route && id !== undefined && segments.length === 2 ? { route, id } : null;
}
