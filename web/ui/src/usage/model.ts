import type { UsageCounters } from "../api/types";

interface Counter {
  name: keyof UsageCounters;
  label: string;
}

interface Group {
  title: string;
  counters: readonly Counter[];
}

/** The counters in the groups in which the page shows them. */
export const GROUPS: readonly Group[] = [
  {
    title: "Agents",
    counters: [
      { name: "events_ingested", label: "Events ingested" },
      { name: "sessions", label: "Sessions" },
      { name: "agents", label: "Agents" },
      { name: "environments", label: "Environments" },
    ],
  },
  {
    title: "Evaluation and audits",
    counters: [
      { name: "evaluations", label: "Evaluations" },
      { name: "evaluation_runs", label: "Evaluation runs" },
      { name: "audit_runs", label: "Audit runs" },
      { name: "incidents_opened", label: "Incidents opened" },
    ],
  },
  {
    title: "People",
    counters: [
      { name: "users_active", label: "Active members" },
      { name: "keys_active", label: "Active keys" },
      { name: "alerts_created", label: "Alerts created" },
      { name: "queries_created", label: "Queries created" },
      { name: "dashboards_created", label: "Dashboards created" },
    ],
  },
];
