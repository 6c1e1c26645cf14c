import type { SessionTotals } from "../api/types";
import type { Load } from "../kit/data/load";
import { Waiting } from "../kit/data/loaded";
import { type FigureOf, Figures } from "../kit/list/figures";
import { compact, decimal, exact, percent, plural } from "../kit/text/formats";
import { rounded } from "../kit/text/money";
import { Money } from "../kit/text/values";

/** What the sessions cost. Without calls there is nothing to say. */
function costsOf({ cost_usd, model_calls, unpriced_calls, priced_sessions, timeline }: SessionTotals): FigureOf[] {
  if (!model_calls) return [];
  const mean = cost_usd === null ? null : rounded(cost_usd / priced_sessions);
  return [
    {
      label: "Cost",
      value: <Money value={cost_usd} unpriced={unpriced_calls} />,
      note: plural(model_calls, "call"),
      color: "var(--cat-2)",
      spark: timeline.points.map((point) => (point.sessions ? point.cost_usd : 0)),
    },
    {
      label: "Cost a session",
      value: <Money value={mean} unpriced={unpriced_calls} />,
      note: `${exact(priced_sessions)} with a cost`,
    },
  ];
}

/**
 * The strip of key figures above the list: sums over all sessions that the filters choose, not only over the rows that
 * are shown.
 */
export function SessionFigures({ load: { data, waiting } }: { load: Load<SessionTotals> }) {
  if (!data) return waiting ? <Waiting seconds={waiting} /> : null;
  const { points } = data.timeline;
  const { score } = data;
  const found: (FigureOf | null)[] = [
    {
      label: "Sessions",
      value: exact(data.sessions),
      note: plural(data.event_count, "event"),
      spark: points.map((point) => point.sessions),
    },
    score && score.avg !== null
      ? {
          label: `Mean ${score.key}`,
          value: decimal(score.avg),
          note: `${exact(score.count)} scored`,
          color: "var(--cat-3)",
          spark: points.map((point) => point.score_avg),
        }
      : null,
    {
      label: "Failed events",
      value: exact(data.error_count),
      note: percent(data.event_count ? data.error_count / data.event_count : 0),
      color: "var(--err)",
      spark: points.map((point) => point.error_count),
    },
    {
      label: "Tokens",
      value: compact(data.input_tokens + data.output_tokens),
      note: `${compact(data.output_tokens)} written`,
      color: "var(--cat-4)",
      spark: points.map((point) => point.tokens),
    },
    ...costsOf(data),
  ];
  return <Figures figures={found.filter((figure) => figure !== null)} />;
}
