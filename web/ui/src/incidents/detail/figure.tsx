import type { IncidentDetail } from "../../api/types";
import { TimeChart } from "../../kit/charts/time-chart";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { Text } from "../../kit/text/text";
import { readValues } from "../api";
import { breachText, formatOf, levelMarks, metricOf, spendingOf } from "../model";

/** Draws the values of the rule around the time of the breach. */
export function RuleFigure({ incident }: { incident: IncidentDetail }) {
  return (
    <section class="panel" aria-label="What breached">
      <header class="panel-head">
        <h2>
          <Text>{breachText(incident.breach_summary ?? incident.title, incident.evidence)}</Text>
        </h2>
      </header>
      {incident.alert_description && (
        <p class="panel-note">
          <strong>What to do:</strong> <Text>{incident.alert_description}</Text>
        </p>
      )}
      {incident.alert_id && <Values incident={incident} />}
    </section>
  );
}

function Values({ incident }: { incident: IncidentDetail }) {
  const load = useLoad(`values ${incident.id} ${incident.resolved_at ?? incident.last_breach_at}`, (options) =>
    readValues(incident.id, options),
  );
  return (
    <Loaded load={load} class="incident-figure">
      {(preview) => {
        if (preview.points.length < 2) return preview.reason && <p class="dim panel-note">{preview.reason}</p>;
        const format = formatOf(metricOf(incident));
        const spending = spendingOf(incident);
        const times = preview.points.map(({ ts }) => Date.parse(ts));
        const opened = Date.parse(incident.opened_at);
        const breached = times.findLastIndex((time, index) => time <= opened && preview.points[index]?.value !== null);
        const end = incident.resolved_at ? Date.parse(incident.resolved_at) : Date.parse(preview.bounds.to);
        return (
          <TimeChart
            label={spending ? "Spending" : "Value of the rule"}
            kind="line"
            times={times}
            series={[{ name: "value", values: preview.points.map(({ value }) => value) }]}
            bound={
              preview.bound === null
                ? undefined
                : { value: preview.bound, label: `${spending ? "" : (preview.op ?? "")} ${format(preview.bound)}` }
            }
            marks={spending ? levelMarks(spending) : []}
            marked={[[Math.max(times[0]!, opened), end]]}
            dots={breached < 0 ? [] : [breached]}
            format={format}
          />
        );
      }}
    </Loaded>
  );
}
