import type { LimitsToday, UsageCounters } from "../api/types";
import { exact } from "../kit/text/formats";

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

/** The limits that are set, with the counts of today; nothing where none is. */
export function limitFigures(limits: LimitsToday): { label: string; value: string }[] {
  const { key_requests_per_sec: requests, key_events_per_sec: events, org_events_per_day: daily } = limits;
  const set = [
    { label: "Events today", most: daily, value: `${exact(limits.events)} of ${exact(daily)}` },
    { label: "Requests of a key", most: requests, value: `${exact(requests)} a second` },
    { label: "Events of a key", most: events, value: `${exact(events)} a second` },
  ].filter(({ most }) => most > 0);
  if (!set.length) return [];
  const refused = limits.enforced ? "Requests refused today" : "Requests over a limit today";
  return [
    ...set.map(({ label, value }) => ({ label, value })),
    { label: refused, value: exact(limits.refused_requests) },
  ];
}
