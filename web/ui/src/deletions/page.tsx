import { useState } from "preact/hooks";
import type { DeletionDetail, DeletionRow } from "../api/types";
import { useAgain, useLoad, usePages } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty } from "../kit/data/states";
import { RadioField, TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { SqlLink } from "../kit/list/sql-link";
import { StatusBar } from "../kit/list/status-bar";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { announce } from "../kit/overlay/announce";
import { confirm, Dialog } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { param, place, setQuery } from "../kit/router";
import { plural } from "../kit/text/formats";
import { Count, Moment, Pill } from "../kit/text/values";
import { changed, pathOf, searchOf } from "../kit/url";
import { listDeletions, PAGE_ROWS, previewDeletion, readDeletion, requestDeletion } from "./api";
import { bodyOf, countsText, isUnderWay, questionOf, STATES, targetText, type Wanted } from "./model";

// A deletion of a few sessions takes seconds.
const AGAIN_MS = 2000;

/** The page "Deletions": sessions removed for good, each with its proof. */
export default function DeletionsPage({ org }: PageProps) {
  const [asking, setAsking] = useState(false);
  const pages = usePages<DeletionRow>(`deletions ${org}`, listDeletions);
  const underWay = pages.data?.some(isUnderWay) ?? false;
  useAgain(underWay, pages, AGAIN_MS);
  const chosen = param("deletion");
  const actions = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /deletions", query: { limit: PAGE_ROWS } })} onRefresh={pages.reload} />
      <button type="button" class="button primary" onClick={() => setAsking(true)}>
        Delete sessions
      </button>
    </>
  );
  return (
    <Page title="Deletions" actions={actions}>
      <Loaded load={pages}>
        {(rows) =>
          rows.length ? (
            <>
              <Table
                label="Deletions"
                columns={columnsOf(org)}
                rows={rows}
                idOf={(row) => row.id}
                selected={chosen}
                onOpen={(row) => setQuery({ deletion: row.id })}
                hasMore={pages.hasMore}
                onMore={pages.more}
                busy={pages.busy}
              />
              <StatusBar
                search={false}
              >{`${plural(rows.length, "deletion")} shown${pages.hasMore ? ", more below" : ""}`}</StatusBar>
            </>
          ) : (
            <Empty title="No deletions yet">
              <p>"Delete sessions" removes sessions, or everything about a person, from all stores, and proves it.</p>
            </Empty>
          )
        }
      </Loaded>
      {asking && <NewDeletion onClose={() => setAsking(false)} onDone={pages.reload} />}
      {chosen && <Deletion key={chosen} id={chosen} />}
    </Page>
  );
}

function columnsOf(org: string): Column<DeletionRow>[] {
  const linkTo = (row: DeletionRow) =>
    pathOf(org, "deletions") + searchOf(changed(place.value.query, { deletion: row.id }));
  return [
    {
      key: "at",
      label: "Requested",
      width: "150px",
      narrow: "title",
      cell: (row) => <Moment at={row.created_at} />,
      href: linkTo,
    },
    {
      key: "of",
      label: "Of",
      narrow: "note",
      cell: targetText,
    },
    {
      key: "sessions",
      label: "Sessions",
      number: true,
      width: "100px",
      narrow: "value",
      cell: (row) => <Count value={row.sessions} />,
    },
    { key: "by", label: "By", width: "220px", cell: (row) => row.created_by },
    { key: "state", label: "State", width: "120px", narrow: "state", cell: (row) => <State row={row} /> },
  ];
}

function State({ row: { state } }: { row: DeletionRow }) {
  const kind = state === "failed" ? "err" : state === "done" ? "ok" : "info";
  return (
    <span title={STATES[state]}>
      <Pill kind={kind}>{state}</Pill>
    </span>
  );
}

function NewDeletion({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const form = useForm<Wanted>({ of: "sessions", ids: "", user: "", field: "", equals: "" }, async (wanted) => {
    const body = bodyOf(wanted);
    if (!(await confirm(questionOf(await previewDeletion(body))))) throw new Error("Nothing was deleted.");
    await requestDeletion(body);
    announce("The deletion is requested");
  });
  const options = [
    { value: "sessions", label: "Sessions by id" },
    { value: "user", label: "Every session of a user" },
    { value: "person", label: "Every session that names a person" },
  ];
  return (
    <FormDialog title="Delete sessions" verb="Count and ask" form={form} onClose={onClose} onDone={onDone}>
      <RadioField form={form} name="of" label="Delete" options={options} />
      {form.values.of === "sessions" && (
        <TextField
          form={form}
          name="ids"
          label="Sessions"
          field="session_ids"
          rows={4}
          mono
          autofocus
          hint="One id a line, at most 5,000."
        />
      )}
      {form.values.of === "user" && (
        <TextField
          form={form}
          name="user"
          label="User"
          field="user_id"
          mono
          autofocus
          hint="Exactly as events have it."
        />
      )}
      {form.values.of === "person" && (
        <>
          <TextField form={form} name="field" label="Field" mono autofocus hint="Of the payload, such as user.email." />
          <TextField form={form} name="equals" label="Value" mono hint="Exactly as events have it." />
        </>
      )}
    </FormDialog>
  );
}

/** One deletion: what it removed, and the statements that show that nothing is left. */
function Deletion({ id }: { id: string }) {
  const load = useLoad(`deletion ${id}`, (options) => readDeletion(id, options));
  return (
    <Dialog title="Deletion" kind="wide" onClose={() => setQuery({ deletion: null })}>
      <Loaded load={load}>{(deletion) => <Proof deletion={deletion} />}</Loaded>
    </Dialog>
  );
}

function Proof({ deletion }: { deletion: DeletionDetail }) {
  const { state, error, removed, dropped_events: dropped, proofs, not_reached: missed } = deletion;
  return (
    <div class="deletion">
      <p>
        <State row={deletion} /> {error ?? STATES[state]}
      </p>
      <p>
        Removed: {countsText(removed)}.
        {dropped > 0 && ` ${plural(dropped, "event")} arrived later and ${dropped === 1 ? "was" : "were"} dropped.`}
      </p>
      <h3>Proofs</h3>
      <ul>
        {proofs.map(({ title, sql }) => (
          <li key={title}>
            {title}{" "}
            <SqlLink sql={() => sql} class="link">
              Open in SQL
            </SqlLink>
          </li>
        ))}
      </ul>
      <h3>Not reached</h3>
      <ul>
        {missed.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </div>
  );
}
