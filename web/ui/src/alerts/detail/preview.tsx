import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/errors";
import type { AlertPreview } from "../../api/types";
import { TimeChart } from "../../kit/charts/time-chart";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { preview } from "../api";
import { metricOf, valueText } from "../condition";
import { type Draft, refusalText, ruleOf } from "../model";
import { breachesOf, replaysOf, resultText } from "../replays";

const AFTER_CHANGE_MS = 300;

/** Shows the breaches that the rule would have found in the last 7 days. */
export function Preview({ draft }: { draft: Draft }) {
  const rule = JSON.stringify(ruleOf(draft));
  const [settled, setSettled] = useState(rule);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(rule), AFTER_CHANGE_MS);
    return () => clearTimeout(timer);
  }, [rule]);
  const load = useLoad(`preview ${settled}`, (options) =>
    preview(JSON.parse(settled) as ReturnType<typeof ruleOf>, options),
  );
  const refused = load.error instanceof ApiError && load.error.status === 422 ? refusalText(load.error.fields) : null;
  return (
    <section class="alert-preview" aria-labelledby="preview">
      <h2 id="preview">The last 7 days</h2>
      {refused ? (
        <p class="soft">Complete the rule to see its preview: {refused}.</p>
      ) : (
        <Loaded load={load}>{(data) => <Drawn preview={data} metric={metricOf(draft)} />}</Loaded>
      )}
    </section>
  );
}

function Drawn({ preview, metric }: { preview: AlertPreview; metric: string | null }) {
  const replays = replaysOf(preview);
  if (!replays.length) return <p class="dim">No group has values in this time.</p>;
  return (
    <>
      {preview.groups && <p class="dim">The groups with most breaches, at most 10.</p>}
      {replays.map(({ name, replay }) => (
        <Drawing key={name} name={name} replay={replay} metric={metric} />
      ))}
    </>
  );
}

type DrawingProps = ReturnType<typeof replaysOf>[number] & { metric: string | null };

function Drawing({ name, replay, metric }: DrawingProps) {
  const { points, bound, op, incidents, bounds } = replay;
  const format = (value: number) => valueText(metric, value);
  const end = Date.parse(bounds.to);
  const { result, often } = resultText(replay);
  return (
    <>
      {name && <h3>{name}</h3>}
      <TimeChart
        label={`Preview of the last 7 days${name ? `, ${name}` : ""}`}
        kind="line"
        times={points.map(({ ts }) => Date.parse(ts))}
        series={[{ name: "value", values: points.map(({ value }) => value) }]}
        bound={bound === null ? undefined : { value: bound, label: `${op ?? ""} ${format(bound)}` }}
        marked={incidents.map(
          ({ opened_at, resolved_at }) => [Date.parse(opened_at), resolved_at ? Date.parse(resolved_at) : end] as const,
        )}
        dots={breachesOf(replay)}
        format={format}
        height={name ? 140 : 220}
        from={Date.parse(bounds.from)}
        to={end}
      />
      <p role={name ? undefined : "status"} class="preview-result">
        {result}
      </p>
      {often && <p class="dim">{often}</p>}
    </>
  );
}
