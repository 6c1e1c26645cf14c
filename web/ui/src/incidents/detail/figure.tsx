import { can } from "../../api/session";
import type { IncidentDetail } from "../../api/types";
import { TimeChart } from "../../kit/charts/time-chart";
import { decimal, exact, percent } from "../../kit/formats";
import { useLoad } from "../../kit/load";
import { Loaded } from "../../kit/loaded";
import { Text } from "../../kit/text";
import { readRule } from "../api";
import { summaryText } from "../model";

const BEFORE_MS = 6 * 3_600_000;
const AFTER_MS = 3_600_000;

/** Draws the values of the rule around the time of the breach. */
export function RuleFigure({ incident }: { incident: IncidentDetail }) {
  return (
    <section class="panel" aria-label="What breached">
      <header class="panel-head">
        <h2>
          <Text>{summaryText(incident.breach_summary ?? incident.title)}</Text>
        </h2>
      </header>
      {incident.alert_id && can("alerts:write") && <Values incident={incident} alertId={incident.alert_id} />}
    </section>
  );
}

function Values({ incident, alertId }: { incident: IncidentDetail; alertId: string }) {
  const from = new Date(Date.parse(incident.opened_at) - BEFORE_MS).toISOString();
  const last = Date.parse(incident.resolved_at ?? incident.last_breach_at);
  const to = new Date(Math.min(Date.now(), last + AFTER_MS)).toISOString();
  // The end moves with the clock, so it is no part of the key.
  const load = useLoad(`rule ${alertId} ${from} ${last}`, (options) => readRule(alertId, from, to, options));
  return (
    <Loaded load={load} class="incident-figure">
      {({ preview }) => {
        if (preview.points.length < 2) return preview.reason && <p class="dim panel-note">{preview.reason}</p>;
        const rate = `${incident.evidence?.["metric"] ?? ""}`.endsWith("_rate");
        const format = rate ? percent : (value: number) => (Number.isInteger(value) ? exact(value) : decimal(value));
        const times = preview.points.map(({ ts }) => Date.parse(ts));
        const opened = Date.parse(incident.opened_at);
        const breached = times.findLastIndex((time, index) => time <= opened && preview.points[index]?.value !== null);
        const end = incident.resolved_at ? Date.parse(incident.resolved_at) : Date.parse(to);
        return (
          <TimeChart
            label="Value of the rule"
            kind="line"
            times={times}
            series={[{ name: "value", values: preview.points.map(({ value }) => value) }]}
            bound={preview.bound === null ? undefined : { value: preview.bound, label: `${preview.op ?? ""} ${format(preview.bound)}` }}
            marked={[[Math.max(times[0]!, opened), end]]}
            dots={breached < 0 ? [] : [breached]}
            format={format}
          />
        );
      }}
    </Loaded>
  );
}
