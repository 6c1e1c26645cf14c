import type { SessionTotals } from "../api/types";
import type { Load } from "../kit/data/load";
import { Waiting } from "../kit/data/loaded";
import { type FigureOf, Figures } from "../kit/list/figures";
import { compact, decimal, exact, percent, plural } from "../kit/text/formats";

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
  ];
  return <Figures figures={found.filter((figure) => figure !== null)} />;
}
