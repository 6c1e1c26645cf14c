import type { EvaluationJob, JobList } from "../api/types";
import type { Load } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { plural } from "../kit/text/formats";
import { Id, Moment, Pill } from "../kit/text/values";
import { pathOf } from "../kit/url";
import { MOST_JOBS } from "./api";

const JOB_KINDS = { pending: "warn", polling: "info" } as const;

/** The evaluations that have no result yet. */
export function Jobs({ org, load }: { org: string; load: Load<JobList> }) {
  const columns: Column<EvaluationJob>[] = [
    {
      key: "session",
      label: "Session",
      narrow: "title",
      width: "240px",
      cell: (row) => <Id value={row.session_id} />,
      href: (row) => pathOf(org, "sessions", row.session_id),
    },
    {
      key: "status",
      label: "Status",
      width: "100px",
      narrow: "value",
      cell: (row) => <Pill kind={JOB_KINDS[row.status]}>{row.status}</Pill>,
    },
    { key: "trigger", label: "Trigger", width: "120px", cell: (row) => row.trigger },
    { key: "attempts", label: "Attempts", number: true, width: "90px", cell: (row) => row.attempt_count },
    {
      key: "error",
      label: "Last error",
      narrow: "note",
      cell: (row) =>
        row.last_error && (
          <span class="err" title={row.last_error}>
            {row.last_error}
          </span>
        ),
    },
    {
      key: "next",
      label: "Next attempt",
      width: "160px",
      narrow: "state",
      cell: (row) => <Moment at={row.next_attempt_at} />,
    },
  ];
  return (
    <Loaded load={load}>
      {({ jobs }) =>
        jobs.length ? (
          <>
            <Table label="Evaluation jobs" columns={columns} rows={jobs} idOf={(row) => row.id} scroll="page" />
            <StatusBar>
              {`${plural(jobs.length, "job")} shown${jobs.length < MOST_JOBS ? "" : ", there may be more"}`}
            </StatusBar>
          </>
        ) : (
          <p class="scores-none dim">No evaluation waits or runs.</p>
        )
      }
    </Loaded>
  );
}
