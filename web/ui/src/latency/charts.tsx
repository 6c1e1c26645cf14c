import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { LatencyAggregate } from "../api/types";
import { HEAT_MAP_LEFT, HeatMap } from "../kit/charts/heat-map";
import { TimeChart } from "../kit/charts/time-chart";
import { Figures } from "../kit/list/figures";
import { setQuery } from "../kit/router";
import { duration, exact, percent } from "../kit/text/formats";
import { Duration, Failures } from "../kit/text/values";
import { bandNames, cellParams, failedShare } from "./model";

interface Props {
  data: LatencyAggregate;
}

/** The figures of all pairs, and two drawings of them over time with one cursor. */
export function Charts({ data }: Props) {
  const cursor = useRef(signal<number | null>(null)).current;
  const { summary, bins, heatmap, bounds, events } = data;
  const times = bins.map(({ ts }) => Date.parse(ts));
  const failed = failedShare(data);
  const open = (column: number, band: number) =>
    setQuery(
      cellParams({ band, name: null, bounds: { from: bins[column]!.ts, to: bins[column + 1]?.ts ?? bounds.to } }),
    );
  return (
    <>
      <Figures
        figures={[
          { label: "p50", value: <Duration ms={summary.p50} /> },
          { label: "p95", value: <Duration ms={summary.p95} /> },
          { label: "p99", value: <Duration ms={summary.p99} /> },
          { label: "max", value: <Duration ms={summary.max} /> },
          {
            label: "Count",
            value: exact(summary.count),
            note: events.unpaired_start > 0 && (
              <span title="starts without an end">{exact(events.unpaired_start)} open</span>
            ),
          },
          {
            label: "Errors",
            value: <Failures value={summary.error_count} />,
            note: failed === null ? undefined : percent(failed),
          },
        ]}
      />
      <section class="latency-chart">
        <h2>Latency heat map</h2>
        <HeatMap
          label="Latency heat map"
          times={times}
          step={bounds.bin_ms}
          bands={bandNames(heatmap.edges_ms)}
          counts={heatmap.counts}
          cursor={cursor}
          onChoose={open}
        />
      </section>
      <section class="latency-chart">
        <h2>Latency percentiles</h2>
        <TimeChart
          label="Latency percentiles"
          kind="line"
          times={times}
          span={bounds.bin_ms}
          band={["p10", "p90"]}
          format={duration}
          cursor={cursor}
          left={HEAT_MAP_LEFT}
          from={times[0]}
          to={Date.parse(bounds.to)}
          series={[
            { name: "p10", values: bins.map(({ p10 }) => p10), color: "var(--seq-2)" },
            { name: "p50", values: bins.map(({ p50 }) => p50), color: "var(--cat-1)" },
            { name: "p90", values: bins.map(({ p90 }) => p90), color: "var(--seq-2)" },
            { name: "p95", values: bins.map(({ p95 }) => p95), color: "var(--cat-2)" },
          ]}
        />
      </section>
    </>
  );
}
