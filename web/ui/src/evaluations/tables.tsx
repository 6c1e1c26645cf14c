import { ApiError } from "../api/errors";
import type { Query } from "../api/request";
import { can } from "../api/session";
import type { Evaluation } from "../api/types";
import { type Load, usePages } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { own } from "../kit/data/own";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { decimal, exact, plural } from "../kit/text/formats";
import { Id, Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { evaluateAgain, listResults } from "./api";

interface LowestProps {
  org: string;
  load: Load<Evaluation[]>;
  scoreKey: string;
  /** How many results have the score. */
  count: number;
}

const MOST_SHOWN = 50;

function resultColumns(org: string): Record<"session" | "agent" | "environment" | "completed", Column<Evaluation>> {
  return {
    session: {
      key: "session",
      label: "Session",
      narrow: "title",
      width: "240px",
      cell: (row) => <Id value={row.session_id} />,
      href: (row) => `${pathOf(org, "sessions", row.session_id)}?view=evaluations`,
    },
    agent: {
      key: "agent",
      label: "Agent",
      width: "150px",
      cell: (row) => <span title={row.agent_id}>{row.agent_id}</span>,
    },
    environment: { key: "environment", label: "Environment", width: "120px", cell: (row) => row.environment },
    completed: {
      key: "completed",
      label: "Completed",
      width: "160px",
      narrow: "state",
      cell: (row) => <Moment at={row.completed_at} />,
    },
  };
}

/** The results with the lowest values of a score, and why. */
export function Lowest({ org, load, scoreKey, count }: LowestProps) {
  const { session, agent, environment, completed } = resultColumns(org);
  const columns: Column<Evaluation>[] = [
    session,
    {
      key: "score",
      label: scoreKey,
      number: true,
      width: "130px",
      narrow: "value",
      cell: (row) => <Score value={own(row.scores, scoreKey)} />,
    },
    { key: "summary", label: "Reasoning", narrow: "note", cell: (row) => <Said row={row} scoreKey={scoreKey} /> },
    agent,
    environment,
    completed,
  ];
  return (
    <Loaded load={load}>
      {(found) => {
        const rows = found.slice(0, MOST_SHOWN);
        if (!rows.length) return <p class="scores-none dim">No result has the score {scoreKey}.</p>;
        return (
          <>
            <Table label="Lowest scores" columns={columns} rows={rows} idOf={(row) => row.id} scroll="page" />
            <StatusBar>
              {`${exact(rows.length)} of ${plural(count, "result")} with ${scoreKey} shown, the lowest`}
            </StatusBar>
          </>
        );
      }}
    </Loaded>
  );
}

const RESULT_KINDS = { done: "ok", error: "err", timeout: "err" } as const;

/** All results that match, newest first, with what went wrong; and the button that evaluates them again. */
export function Results({
  org,
  query,
  turn,
  onQueued,
}: {
  org: string;
  query: Query;
  turn: number;
  onQueued: () => void;
}) {
  const pages = usePages<Evaluation>([query, turn], (cursor, options) => listResults({ ...query, cursor }, options));
  const { session, agent, environment, completed } = resultColumns(org);
  const columns: Column<Evaluation>[] = [
    session,
    {
      key: "status",
      label: "Status",
      width: "100px",
      narrow: "value",
      cell: ({ status }) => <Pill kind={RESULT_KINDS[status as keyof typeof RESULT_KINDS]}>{status}</Pill>,
    },
    {
      key: "error",
      label: "Error",
      narrow: "note",
      cell: ({ error, summary }) =>
        error ? (
          <span class="err" title={error}>
            {error}
          </span>
        ) : (
          <span class="soft" title={summary ?? ""}>
            {summary}
          </span>
        ),
    },
    agent,
    environment,
    completed,
  ];
  return (
    <Loaded load={pages}>
      {(rows) =>
        rows.length ? (
          <>
            <Table
              label="Results"
              columns={columns}
              rows={rows}
              idOf={(row) => row.id}
              scroll="page"
              hasMore={pages.hasMore}
              onMore={pages.more}
              busy={pages.busy}
            />
            <StatusBar>
              {`${plural(rows.length, "result")} shown${pages.hasMore ? ", more below" : ""}`}
              {can("evaluations:trigger") && (
                <button type="button" class="button small" onClick={() => void again(query, onQueued)}>
                  Evaluate again…
                </button>
              )}
            </StatusBar>
          </>
        ) : (
          <p class="scores-none dim">No results.</p>
        )
      }
    </Loaded>
  );
}

/** Says how many sessions would be evaluated again, and does it. */
async function again(query: Query, onQueued: () => void): Promise<void> {
  try {
    const { sessions } = await evaluateAgain(query, true);
    const text =
      "All sessions whose newest result matches the filters. Those with an evaluation under way are left out.";
    if (
      !(await confirm({
        title: `Evaluate ${plural(sessions, "session")} again?`,
        verb: "Evaluate again",
        text,
        danger: false,
      }))
    )
      return;
    announce(`${plural((await evaluateAgain(query, false)).queued, "evaluation")} queued`);
    onQueued();
  } catch (error) {
    announce(error instanceof ApiError ? error.message : "Nothing was queued");
  }
}

function Score({ value }: { value: number | undefined }) {
  return value === undefined ? <span class="dim">–</span> : <span title={exact(value)}>{decimal(value)}</span>;
}

function Said({ row, scoreKey }: { row: Evaluation; scoreKey: string }) {
  const text = own(row.reasoning, scoreKey) ?? row.summary ?? row.error ?? "";
  return (
    <span class="soft" title={text}>
      {text}
    </span>
  );
}
