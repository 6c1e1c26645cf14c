import { can } from "../api/session";
import type { Query } from "../api/request";
import type { EvaluationAggregate } from "../api/types";
import { compact, decimal, exact, percent, plural } from "../kit/formats";
import { Figures, type FigureOf } from "../kit/figures";
import { useLoad, type Load } from "../kit/load";
import { facets, runSql } from "./api";
import { figuresSql, intervalMinutes, totalsOf, type Totals } from "./model";
import { own } from "../kit/own";

interface Props {
  query: Query;
  /** Length of the range in milliseconds, null for all time. */
  span: number | null;
  scores: Load<EvaluationAggregate>;
  scoreKey: string | null;
  turn: number;
}

/** Sums over all sessions that the filters choose, not only over the rows that are shown. */
function useTotals({ query, span, turn }: Props): Totals | undefined {
  const minutes = intervalMinutes(span);
  const sql = figuresSql(query, minutes);
  const key = can("queries:run") ? `${turn} ${sql}` : null;
  return useLoad(key, async (options) => totalsOf(await runSql(sql, options), minutes)).data;
}

/** The strip of key figures above the list. What the person may not read is left out. */
export function SessionFigures(props: Props) {
  const totals = useTotals(props);
  const { data: models = [] } = useLoad("models", facets.models);
  const { scoreKey, scores: { data: scores } } = props;
  const stats = scores?.score_stats.find(({ key }) => key === scoreKey);
  const found: (FigureOf | false | undefined)[] = [
    totals && { label: "Sessions", value: exact(totals.sessions), note: plural(totals.events, "event"), spark: totals.over.sessions },
    stats && scoreKey !== null && {
      label: `Mean ${scoreKey}`, value: decimal(stats.avg), note: `${exact(stats.count)} scored`, color: "var(--cat-3)",
      spark: scores!.timeline.points.map((point) => own(point.scores, scoreKey) ?? null),
    },
    totals && {
      label: "Failed events", value: exact(totals.failed), note: percent(totals.events ? totals.failed / totals.events : 0),
      color: "var(--err)", spark: totals.over.failed,
    },
    totals && {
      label: "Tokens", value: compact(totals.tokens), note: models.length === 1 ? models[0] : models.length ? plural(models.length, "model") : undefined,
      color: "var(--cat-4)", spark: totals.over.tokens,
    },
  ];
  const figures = found.filter((figure) => !!figure);
  return figures.length ? <Figures figures={figures} /> : null;
}
