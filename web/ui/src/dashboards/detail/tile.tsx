import { ApiError } from "../../api/errors";
import type { QueryRow, TileRow } from "../../api/types";
import { Skeleton, Waiting } from "../../kit/data/loaded";
import { ResultChart } from "../../kit/results/chart";
import { fieldsFor } from "../../kit/results/model";
import { emptyNote } from "../../kit/results/parameters";
import { ResultTable } from "../../kit/results/table";
import { plural } from "../../kit/text/formats";
import { boundsOf, type Range } from "../../kit/time/time";
import { boundTyped, fieldsOf } from "../model";
import { useRoom } from "./use-room";
import { useTile } from "./use-tile";

interface Props {
  org: string;
  tile: TileRow;
  title: string;
  /** Its query, for those who may read it. */
  query: QueryRow | undefined;
  range: Range;
  /** Counts the refreshes. */
  turn: number;
  /** Whether the rows are shown in place of the chart. */
  asTable: boolean;
}

/** The content of a tile, or the reason why there is none. */
export function Tile({ org, tile, title, query, range, turn, asTable }: Props) {
  const { result, error, busy, waiting, retry } = useTile(tile, range, turn);
  const [body, height] = useRoom([result, asTable, error, waiting]);
  return (
    <div ref={body} class="tile-body" aria-busy={busy} tabIndex={0}>
      <Waiting seconds={waiting} />
      {error !== null && <Problem error={error} stale={result !== null} onRetry={retry} />}
      {!result ? (
        error === null && <Skeleton rows={3} />
      ) : !result.rows.length ? (
        <p class="tile-note">
          No rows match.{" "}
          {query && emptyNote(query.sql_text, boundTyped(query, tile.param_bindings, boundsOf(range, 0), 0))}
        </p>
      ) : asTable || tile.chart_type === "table" ? (
        <ResultTable org={org} label={title} result={result} />
      ) : (
        <ResultChart
          label={title}
          type={tile.chart_type}
          fields={fieldsFor(result, fieldsOf(tile.chart_config))}
          result={result}
          height={height}
        />
      )}
      {result?.truncated && <p class="tile-note warn">Only the first {plural(result.rows.length, "row")} came.</p>}
    </div>
  );
}

interface ProblemProps {
  error: unknown;
  /** Whether an older result is still shown. */
  stale: boolean;
  onRetry: () => void;
}

function Problem({ error, stale, onRetry }: ProblemProps) {
  const sentence =
    error instanceof ApiError
      ? (error.detail ?? error.message)
      : error instanceof Error
        ? error.message
        : `${error as string}`;
  return (
    <div class="tile-note err" role="alert">
      <p>{stale ? `Not refreshed: ${sentence}` : sentence}</p>
      {error instanceof ApiError && error.requestId && <p class="mono dim">request {error.requestId}</p>}
      <button type="button" class="button small" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
