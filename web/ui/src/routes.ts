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

export const ROUTES: readonly Route[] = [
  { path: "start", title: "Send your first event", permissions: [], load: () => import("./start/page") },
  { path: "sessions", title: "Sessions", permissions: ["evaluations:read"], load: () => import("./sessions/page") },
  { path: "sessions/:id", title: "Session", permissions: session, load: () => import("./sessions/detail/page") },
  { path: "compare", title: "Compare sessions", permissions: session, load: () => import("./sessions/compare/page") },
  { path: "events", title: "Events", permissions: ["events:read"], load: () => import("./events/page") },
  { path: "errors", title: "Errors", permissions: ["events:read"], load: () => import("./errors/page") },
  { path: "latency", title: "Latency", permissions: ["events:read"], load: () => import("./latency/page") },
  { path: "evaluations", title: "Evaluations", permissions: ["evaluations:read"], load: () => import("./evaluations/page") },
  { path: "sql", title: "SQL", permissions: ["queries:read"], load: () => import("./queries/page") },
  { path: "sql/:id", title: "SQL", permissions: ["queries:read"], load: () => import("./queries/page") },
  { path: "dashboards", title: "Dashboards", permissions: ["dashboards:read"], load: () => import("./dashboards/page") },
  { path: "dashboards/:id", title: "Dashboard", permissions: ["dashboards:read"], load: () => import("./dashboards/detail/page") },
  { path: "alerts", title: "Alerts", permissions: ["alerts:read"], load: () => import("./alerts/page") },
  { path: "alerts/new", title: "New alert", permissions: ["alerts:write"], load: () => import("./alerts/detail/page") },
  { path: "alerts/:id", title: "Alert", permissions: ["alerts:read"], load: () => import("./alerts/detail/page") },
  { path: "incidents", title: "Incidents", permissions: ["incidents:read"], load: () => import("./incidents/page") },
  { path: "incidents/:id", title: "Incident", permissions: ["incidents:read"], load: () => import("./incidents/detail/page") },
  { path: "audits", title: "Audits", permissions: ["audits:read"], load: () => import("./audits/page") },
  { path: "audits/:id", title: "Audit", permissions: ["audits:read"], load: () => import("./audits/detail/page") },
  { path: "findings", title: "Findings", permissions: ["audits:read"], load: () => import("./findings/page") },
  { path: "findings/:id", title: "Finding", permissions: ["audits:read"], load: () => import("./findings/detail/page") },
  { path: "keys", title: "Keys", permissions: ["keys:read"], load: () => import("./keys/page") },
  { path: "members", title: "Members", permissions: ["users:read"], load: () => import("./users/page") },
  { path: "permission-sets", title: "Permission sets", permissions: ["users:read"], load: () => import("./permission_sets/page") },
  { path: "settings", title: "Settings", permissions: ["settings:read"], load: () => import("./settings/page") },
  { path: "model-windows", title: "Model windows", permissions: ["settings:read"], load: () => import("./model_windows/page") },
  { path: "audit-log", title: "Audit log", permissions: ["settings:read"], load: () => import("./audit_log/page") },
  { path: "usage", title: "Usage", permissions: ["settings:read"], load: () => import("./usage/page") },
];

export const NAVIGATION: readonly NavEntry[] = [
  { path: "sessions", label: "Sessions", icon: "text-align-start", group: "", key: "s" },
  { path: "events", label: "Events", icon: "list-tree", group: "", key: "e" },
  { path: "errors", label: "Errors", icon: "triangle-alert", group: "", key: "x" },
  { path: "latency", label: "Latency", icon: "activity", group: "", key: "l" },
  { path: "evaluations", label: "Evaluations", icon: "chart-column", group: "", key: "v" },
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
  { path: "audit-log", label: "Audit log", icon: "scroll-text", group: "Administration" },
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
