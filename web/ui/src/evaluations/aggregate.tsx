import type { EvaluationAggregate } from "../api/types";
import { Histogram } from "../kit/charts/histogram";
import { TimeChart } from "../kit/charts/time-chart";
import { own } from "../kit/data/own";
import { Figures } from "../kit/list/figures";
import { Tabs } from "../kit/overlay/tabs";
import { param, place, setQuery } from "../kit/router";
import { decimal, exact, plural } from "../kit/text/formats";
import { changed, searchOf } from "../kit/url";
import { linesOf, resultsOf, scoreNote } from "./model";

interface Props {
  data: EvaluationAggregate;
  scoreKey: string | null;
  /** How many series the chart could have. */
  asked: number;
}

/** The list of the results that failed. */
const failedHref = () =>
  location.pathname + searchOf(changed(place.value.query, { status: ["error", "timeout"], list: "results" }));

/** What the time of a result is. */
const timeNote = () => (param("time") === "completion" ? "by completion" : "by the session's last event");

/** The figures of each score, and the course and the distribution of the chosen one. */
export function Aggregate({ data, scoreKey, asked }: Props) {
  const { points, bucket_secs } = data.timeline;
  const times = points.map(({ ts }) => Date.parse(ts));
  const failed = data.status_counts.error + data.status_counts.timeout;
  const figures = data.score_stats.map((stats) => ({
    label: stats.key,
    value: <span title={exact(stats.avg)}>{decimal(stats.avg)}</span>,
    note: scoreNote(stats, data.total),
    spark: points.map((point) => own(point.scores, stats.key) ?? null),
  }));
  return (
    <>
      <Figures
        figures={[
          {
            label: "Evaluations",
            value: exact(data.total),
            note: failed ? <a href={failedHref()}>{exact(failed)} failed</a> : "none failed",
            spark: points.map(({ total }) => total),
          },
          ...figures,
        ]}
      />
      {scoreKey !== null && (
        <Tabs
          label="Score"
          tabs={data.score_stats.map(({ key }) => ({ id: key, label: key }))}
          value={scoreKey}
          onChange={(score) => setQuery({ score })}
          class="scores-charts"
        >
          <Course data={data} scoreKey={scoreKey} times={times} asked={asked} />
        </Tabs>
      )}
      <section>
        <h2 class="scores-head">
          Results over time <span class="dim">{timeNote()}</span>
        </h2>
        <TimeChart
          label="Results over time"
          kind="stacked_bar"
          times={times}
          span={bucket_secs * 1000}
          series={resultsOf(points)}
          height={120}
          counts
          format={exact}
        />
      </section>
    </>
  );
}

function Course({ data, scoreKey, times, asked }: Props & { scoreKey: string; times: readonly number[] }) {
  const { points, bucket_secs } = data.timeline;
  const { lines, others } = linesOf(
    data.series,
    points.map(({ ts }) => ts),
  );
  const left = asked - data.series.length;
  const histogram = data.histograms.find(({ key }) => key === scoreKey);
  const span = bucket_secs * 1000;
  return (
    <div class="scores-pair">
      <section>
        <h2>
          Scores over time <span class="dim">{timeNote()}</span>
        </h2>
        <TimeChart
          label="Scores over time"
          kind="line"
          times={times}
          span={span}
          from={times[0]}
          to={(times[times.length - 1] ?? 0) + span}
          series={lines}
          format={decimal}
        />
        {others + left > 0 && (
          <p class="scores-others dim">
            {others > 0 && `${plural(others, "other line")} left out. `}
            {left > 0 && `${plural(left, "more pair")} of agent and environment may have lines. `}
            Filter by agent or environment to see them.
          </p>
        )}
      </section>
      {histogram && (
        <section>
          <h2>Distribution of {scoreKey}</h2>
          <Histogram
            label={`Distribution of ${scoreKey}`}
            min={histogram.min}
            max={histogram.max}
            counts={histogram.counts}
            height={180}
          />
        </section>
      )}
    </div>
  );
}
