import { useEffect, useState } from "preact/hooks";
import { can } from "../../api/session";
import type { AuditRow, AuditRunRow } from "../../api/types";
import { useLoad, usePages } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { Failed } from "../../kit/data/states";
import { Icon } from "../../kit/icon";
import { ViewToolbar } from "../../kit/list/toolbar";
import { announce } from "../../kit/overlay/announce";
import { confirm } from "../../kit/overlay/dialog";
import { Page, type PageProps } from "../../kit/page";
import { navigate } from "../../kit/router";
import { plural } from "../../kit/text/formats";
import { Text } from "../../kit/text/text";
import { Moment, Pill } from "../../kit/text/values";
import { pathOf } from "../../kit/url";
import { deleteAudit, readAudit, readRuns, runAudit } from "../api";
import { AuditDialog } from "../dialog";
import { awaitsFirstRun, isBehind, scheduleText, scopeText } from "../model";
import { Runs } from "./runs";

const LOOK_AGAIN_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The page of one audit: its runs, and the report of the newest one that has one. */
export default function AuditPage({ org, id }: PageProps) {
  const audit = useLoad(`audit ${org} ${id}`, (options) => readAudit(id, options));
  const runs = usePages<AuditRunRow>(`runs ${org} ${id}`, (cursor, options) => readRuns(id, cursor, options));
  const [editing, setEditing] = useState(false);
  const [queued, setQueued] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const refresh = () => {
    audit.reload();
    runs.reload();
  };
  const running = queued || runs.data?.some(({ status }) => status === "running") === true;
  // A run of the schedule, which is in no list between its moment and its start. The first one of a new audit is due at
  // once.
  const [dueAt, setDueAt] = useState<number | null>(null);
  const behind = audit.data !== undefined && runs.data !== undefined && isBehind(audit.data, runs.data[0]);
  const due =
    dueAt !== null && audit.data?.enabled === true && !(Date.parse(runs.data?.[0]?.started_at ?? "") >= dueAt);
  const follows = running || due || behind || (audit.data !== undefined && awaitsFirstRun(audit.data));
  useEffect(() => {
    if (!follows) return;
    const timer = setInterval(refresh, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [follows]);
  const next = audit.data?.enabled ? audit.data.next_attempt_at : null;
  useEffect(() => {
    const moment = Date.parse(next ?? "");
    const wait = moment - Date.now();
    if (!(wait <= LONGEST_TIMER_MS)) return;
    const timer = setTimeout(() => setDueAt(moment), Math.max(wait, 0));
    return () => clearTimeout(timer);
  }, [next]);
  const newest = runs.data?.[0]?.id;
  useEffect(() => setQueued(false), [newest]);
  const attempt = async (action: () => Promise<unknown>) => {
    try {
      await action();
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  const run = () =>
    attempt(async () => {
      await runAudit(id);
      setQueued(true);
      announce("The run is queued");
    });
  const remove = async (row: AuditRow) => {
    if (await confirm({ title: `Delete ${row.name}?`, verb: "Delete", text: "Its runs and findings are deleted too." }))
      await attempt(async () => {
        await deleteAudit(id);
        await navigate(pathOf(org, "audits"));
      });
  };
  const row = audit.data;
  const head = (
    <>
      <ViewToolbar
        curl={() => ({ route: "GET /audits/{audit_id}/runs", path: { audit_id: id } })}
        onRefresh={refresh}
      />
      {row && can("audits:write") && (
        <>
          <button type="button" class="button" onClick={() => setEditing(true)}>
            <Icon name="pencil" /> Edit
          </button>
          <button type="button" class="button" onClick={() => void remove(row)}>
            Delete
          </button>
          <button type="button" class="button primary" aria-disabled={running} onClick={() => !running && void run()}>
            <Icon name="play" /> Run now
          </button>
        </>
      )}
    </>
  );
  return (
    <Page title={row?.name ?? "Audit"} badges={row && !row.enabled && <Pill>Disabled</Pill>} actions={head}>
      {problem !== null && <Failed error={problem} />}
      <Loaded load={audit} class="audit-about">
        {(data) => <About org={org} audit={data} />}
      </Loaded>
      {running && (
        <p class="notice audit-running" role="status">
          A run is under way.
        </p>
      )}
      <Loaded load={runs}>{(rows) => <Runs org={org} rows={rows} hasMore={runs.hasMore} onMore={runs.more} />}</Loaded>
      {editing && row && <AuditDialog audit={row} onClose={() => setEditing(false)} onSaved={audit.reload} />}
    </Page>
  );
}

function About({ org, audit }: { org: string; audit: AuditRow }) {
  return (
    <div class="audit-facts">
      {audit.description && (
        <p>
          <Text>{audit.description}</Text>
        </p>
      )}
      <p>
        {scheduleText(audit)} · {scopeText(audit)} · sensitivity {audit.sensitivity}
        {audit.next_attempt_at && audit.enabled && (
          <>
            {" "}
            · next <Moment at={audit.next_attempt_at} />
          </>
        )}
      </p>
      <p>
        <a class="link" href={`${pathOf(org, "findings")}?audit_id=${audit.id}`}>
          {plural(audit.open_findings, "open finding")}
        </a>
      </p>
    </div>
  );
}
