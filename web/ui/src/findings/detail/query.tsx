import { useState } from "preact/hooks";
import { can } from "../../api/session";
import type { FindingQueryRow, QueryResult } from "../../api/types";
import { Failed } from "../../kit/data/states";
import { Icon } from "../../kit/icon";
import { SqlLink } from "../../kit/list/sql-link";
import { plural } from "../../kit/text/formats";
import { Text } from "../../kit/text/text";
import { pathOf } from "../../kit/url";
import { runQuery } from "../api";

const MOST_ROWS = 50;

/** A query of a finding, which runs in place. */
export function Query({ org, query }: { org: string; query: FindingQueryRow }) {
  const [state, setState] = useState<{ busy: boolean; error: unknown; result: QueryResult | null }>({
    busy: false,
    error: null,
    result: null,
  });
  const run = async () => {
    setState({ ...state, busy: true, error: null });
    try {
      setState({ busy: false, error: null, result: await runQuery(query.sql) });
    } catch (error) {
      setState({ busy: false, error, result: null });
    }
  };
  return (
    <article class="finding-query" aria-label={query.title} aria-busy={state.busy}>
      <header>
        <h3>{query.title}</h3>
        {can("queries:run") && (
          <>
            <SqlLink class="link" sql={() => query.sql}>
              Open in SQL
            </SqlLink>
            <button
              type="button"
              class="button small"
              aria-disabled={state.busy}
              onClick={() => !state.busy && void run()}
            >
              <Icon name="play" class="small" /> Run query
            </button>
          </>
        )}
      </header>
      <details>
        <summary>Statement</summary>
        <pre>{query.sql}</pre>
      </details>
      {state.error !== null && <Failed error={state.error} />}
      {state.result && <Result org={org} result={state.result} />}
    </article>
  );
}

function Result({ org, result: { columns, rows, elapsed_ms } }: { org: string; result: QueryResult }) {
  const shown = rows.slice(0, MOST_ROWS);
  return (
    <>
      <p role="status" class="dim">
        {plural(rows.length, "row")} in {elapsed_ms} ms{rows.length > MOST_ROWS && `, the first ${MOST_ROWS} shown`}
      </p>
      <div class="finding-rows">
        <table>
          <thead>
            <tr>
              {columns.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={index}>
                {row.map((value, column) => (
                  <td key={column}>
                    {columns[column]?.name === "session_id" ? (
                      <a class="link mono" href={pathOf(org, "sessions", `${value}`)}>{`${value}`}</a>
                    ) : (
                      <Text>{textOf(value)}</Text>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : `${value as string | number | boolean}`;
}
