import { useState } from "preact/hooks";
import { can } from "../api/session";
import type { WindowRow } from "../api/types";
import { useLoad } from "../kit/data/load";
import { Loaded } from "../kit/data/loaded";
import { Empty, Failed } from "../kit/data/states";
import { TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { RowActions } from "../kit/list/row-actions";
import { type Column, Table } from "../kit/list/table";
import { ViewToolbar } from "../kit/list/toolbar";
import { announce } from "../kit/overlay/announce";
import { confirm } from "../kit/overlay/dialog";
import { Page, type PageProps } from "../kit/page";
import { param, setQuery, typeQuery } from "../kit/router";
import { exact } from "../kit/text/formats";
import { Moment } from "../kit/text/values";
import { deleteWindow, readWindows, resolve, saveWindow } from "./api";
import { sentenceOf, tokensOf } from "./model";

/** The page "Model windows": the organization's own windows, and a model to try. */
export default function ModelWindowsPage({ org }: PageProps) {
  const [edited, setEdited] = useState<WindowRow | "new" | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = useLoad(`windows ${org}`, readWindows);
  const mayWrite = can("settings:write");
  const remove = async ({ model_id }: WindowRow) => {
    const sure = await confirm({
      title: `Delete ${model_id}?`,
      verb: "Delete",
      text: "New events of this model get the window of the built-in table, if it has one.",
    });
    if (!sure) return;
    try {
      await deleteWindow(model_id);
      setProblem(null);
      announce(`The window of ${model_id} is deleted`);
    } catch (error) {
      setProblem(error);
    }
    load.reload();
  };
  const actions = (
    <>
      <ViewToolbar curl={() => ({ route: "GET /settings/model-context-windows" })} onRefresh={load.reload} />
      {mayWrite && (
        <button type="button" class="button primary" onClick={() => setEdited("new")}>
          New window
        </button>
      )}
    </>
  );
  return (
    <Page title="Model windows" actions={actions}>
      <p class="windows-about">
        The context window of a model decides the context fill of its next events. Stored events stay as they are.
      </p>
      <TryModel />
      {problem !== null && <Failed error={problem} />}
      <Loaded load={load}>
        {(rows) =>
          rows.length ? (
            <Table
              label="Model windows"
              columns={columnsOf(mayWrite, setEdited, remove)}
              rows={rows}
              idOf={(row) => row.model_id}
            />
          ) : (
            <Empty title="No windows yet">
              <p>Models of the built-in table have their windows. Set one for a model of your own.</p>
            </Empty>
          )
        }
      </Loaded>
      {edited && (
        <WindowDialog row={edited === "new" ? null : edited} onClose={() => setEdited(null)} onSaved={load.reload} />
      )}
    </Page>
  );
}

function columnsOf(
  mayWrite: boolean,
  edit: (row: WindowRow) => void,
  remove: (row: WindowRow) => void,
): Column<WindowRow>[] {
  const columns: Column<WindowRow>[] = [
    { key: "model", label: "Model", narrow: "title", cell: (row) => <span class="mono">{row.model_id}</span> },
    {
      key: "window",
      label: "Window (tokens)",
      number: true,
      narrow: "value",
      width: "160px",
      cell: (row) => (row.context_window ? exact(row.context_window) : "unknown"),
    },
    { key: "updated", label: "Changed", narrow: "note", width: "180px", cell: (row) => <Moment at={row.updated_at} /> },
  ];
  if (!mayWrite) return columns;
  const actions = (row: WindowRow) => (
    <RowActions
      name={row.model_id}
      actions={[
        { label: "Edit", onClick: () => edit(row) },
        { label: "Delete", onClick: () => remove(row) },
      ]}
    />
  );
  return [...columns, { key: "actions", label: "Actions", narrow: "state", width: "170px", cell: actions }];
}

/** Says which window a model gets, while its name is typed. */
function TryModel() {
  const model = param("model") ?? "";
  const found = useLoad(model ? `resolve ${model}` : null, (options) => resolve(model, options));
  return (
    <div class="windows-try">
      <label class="field">
        <span>Try a model</span>
        <input
          class="input mono"
          type="text"
          placeholder="gpt-4o"
          data-search
          spellcheck={false}
          value={model}
          onInput={(event) => typeQuery({ model: event.currentTarget.value })}
          onChange={(event) => setQuery({ model: event.currentTarget.value })}
        />
      </label>
      <p role="status" aria-busy={found.busy}>
        {model &&
          (found.error !== null ? (
            <span class="err">{(found.error as Error).message}</span>
          ) : (
            found.data && sentenceOf(found.data)
          ))}
      </p>
    </div>
  );
}

interface DialogProps {
  row: WindowRow | null;
  onClose: () => void;
  onSaved: () => void;
}

function WindowDialog({ row, onClose, onSaved }: DialogProps) {
  const initial = { model_id: row?.model_id ?? "", context_window: row ? `${row.context_window}` : "" };
  const form = useForm(initial, async ({ model_id, context_window }) => {
    // The server names the field if this is no number.
    await saveWindow({ model_id, context_window: tokensOf(context_window) ?? (context_window as unknown as number) });
    announce(`The window of ${model_id} is saved`);
  });
  return (
    <FormDialog title={row ? "Edit window" : "New window"} verb="Save" form={form} onClose={onClose} onDone={onSaved}>
      <TextField
        form={form}
        name="model_id"
        label="Model"
        mono
        autofocus={!row}
        readOnly={row !== null}
        hint="Exactly as events spell it."
      />
      <TextField
        form={form}
        name="context_window"
        label="Window (tokens)"
        type="number"
        autofocus={row !== null}
        hint="Such as 128000 or 128k. 0 means unknown."
      />
    </FormDialog>
  );
}
