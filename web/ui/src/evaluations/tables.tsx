import type { Query } from "../api/request";
import type { Evaluation, EvaluationJob } from "../api/types";
import { decimal, exact, plural } from "../kit/formats";
import { useLoad } from "../kit/load";
import { Loaded } from "../kit/loaded";
import { Table, type Column } from "../kit/table";
import { pathOf } from "../kit/url";
import { Id, Moment, Pill } from "../kit/values";
import { MOST_JOBS, readJobs, readLowest } from "./api";
import { own } from "../kit/own";

interface LowestProps {
  org: string;
  query: Query;
  scoreKey: string;
  /** How many results have the score. */
  count: number;
  turn: number;
}

/** The results with the lowest values of a score, and why. */
export function Lowest({ org, query, scoreKey, count, turn }: LowestProps) {
  const load = useLoad(JSON.stringify([query, scoreKey, turn]), (options) => readLowest(query, scoreKey, options));
  const columns: Column<Evaluation>[] = [
    { key: "session", label: "Session", narrow: "title", width: "240px", cell: (row) => <Id value={row.session_id} />, href: (row) => `${pathOf(org, "sessions", row.session_id)}?view=evaluations` },
    { key: "score", label: scoreKey, number: true, width: "130px", narrow: "value", cell: (row) => <Score value={own(row.scores, scoreKey)} /> },
    { key: "summary", label: "Reasoning", narrow: "note", cell: (row) => <Said row={row} scoreKey={scoreKey} /> },
    { key: "agent", label: "Agent", width: "150px", cell: (row) => <span title={row.agent_id}>{row.agent_id}</span> },
    { key: "environment", label: "Environment", width: "120px", cell: (row) => row.environment },
    { key: "completed", label: "Completed", width: "160px", narrow: "state", cell: (row) => <Moment at={row.completed_at} /> },
  ];
  return (
    <section>
      <h2 class="scores-head">
        Lowest scores <span class="dim">{load.data && `${exact(load.data.length)} of ${plural(count, "result")}`}</span>
      </h2>
      <Loaded load={load}>
        {(rows) => (rows.length ? <Table label="Lowest scores" columns={columns} rows={rows} idOf={(row) => row.id} scroll="page" /> : <p class="scores-none dim">No result has the score {scoreKey}.</p>)}
      </Loaded>
    </section>
  );
}

function Score({ value }: { value: number | undefined }) {
  return value === undefined ? <span class="dim">–</span> : <span title={exact(value)}>{decimal(value)}</span>;
}

function Said({ row, scoreKey }: { row: Evaluation; scoreKey: string }) {
  const text = own(row.reasoning, scoreKey) ?? row.summary ?? row.error ?? "";
  return <span class="soft" title={text}>{text}</span>;
}

const JOB_KINDS = { pending: "warn", polling: "info" } as const;

/** The evaluations that have no result yet. */
export function Jobs({ org, turn }: { org: string; turn: number }) {
  const load = useLoad(`jobs ${org} ${turn}`, readJobs);
  const columns: Column<EvaluationJob>[] = [
    { key: "session", label: "Session", narrow: "title", width: "240px", cell: (row) => <Id value={row.session_id} />, href: (row) => pathOf(org, "sessions", row.session_id) },
    { key: "status", label: "Status", width: "100px", narrow: "value", cell: (row) => <Pill kind={JOB_KINDS[row.status]}>{row.status}</Pill> },
    { key: "trigger", label: "Trigger", width: "120px", cell: (row) => row.trigger },
    { key: "attempts", label: "Attempts", number: true, width: "90px", cell: (row) => row.attempt_count },
    { key: "error", label: "Last error", narrow: "note", cell: (row) => row.last_error && <span class="err" title={row.last_error}>{row.last_error}</span> },
    { key: "next", label: "Next attempt", width: "160px", narrow: "state", cell: (row) => <Moment at={row.next_attempt_at} /> },
  ];
  return (
    <section>
      <h2 class="scores-head">
        Evaluation jobs <span class="dim">{load.data && load.data.length > 0 && `${plural(load.data.length, "job")}${load.data.length < MOST_JOBS ? "" : " shown, there may be more"}`}</span>
      </h2>
      <Loaded load={load}>
        {(rows) => (rows.length ? <Table label="Evaluation jobs" columns={columns} rows={rows} idOf={(row) => row.id} scroll="page" /> : <p class="scores-none dim">No evaluation waits or runs.</p>)}
      </Loaded>
    </section>
  );
}
