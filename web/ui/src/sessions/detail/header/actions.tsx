import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../../../api/errors";
import { can } from "../../../api/session";
import { useLoad } from "../../../kit/data/load";
import { Icon } from "../../../kit/icon";
import { ViewToolbar } from "../../../kit/list/toolbar";
import { announce } from "../../../kit/overlay/announce";
import { Dialog } from "../../../kit/overlay/dialog";
import { MenuButton } from "../../../kit/overlay/menu";
import { navigate } from "../../../kit/router";
import { downloadAnswer } from "../../../kit/text/download";
import { joinValues, pathOf, searchOf } from "../../../kit/url";
import { readExport, readNewestIds, reEvaluate } from "../api";
import { shownQuery } from "../model/shown-query";
import { filters } from "../state";
import type { View } from "../view";

interface Props {
  view: View;
  org: string;
  /** To the sessions beside this one. */
  links: ComponentChildren;
  onRefresh: () => void;
}

export function Actions({ view, org, links, onRefresh }: Props) {
  const { id } = view.source;
  const reads = can("events:read");
  const path = { session_id: id };
  const shown = () => shownQuery(view.session.value?.outline ?? null, filters.value);
  const outline = () => ({ route: "GET /sessions/{session_id}/outline", path, query: shown() });
  const items = [
    {
      label: "JSON lines",
      onSelect: () => void downloadAnswer(`session-${id}.jsonl`, "application/x-ndjson", () => readExport(id, "jsonl")),
    },
    {
      label: "JSON",
      onSelect: () => void downloadAnswer(`session-${id}.json`, "application/json", () => readExport(id, "json")),
    },
  ];
  return (
    <>
      {links}
      <ViewToolbar
        curl={() => (reads ? outline() : { route: "GET /sessions/{session_id}", path })}
        sql={() => (reads ? outline() : { route: "GET /sessions", query: { session_id: joinValues([id]) } })}
        onRefresh={onRefresh}
      />
      <CompareWith id={id} agent={view.source.facts.value?.agent_id} org={org} />
      {can("events:read") && (
        <MenuButton label="Export" items={items} class="button folds">
          <Icon name="upload" />
          Export
        </MenuButton>
      )}
      {can("evaluations:trigger") && <ReEvaluate view={view} />}
    </>
  );
}

function ReEvaluate({ view }: { view: View }) {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await reEvaluate(view.source.id);
      announce("The evaluation is queued");
      if (can("evaluations:read")) void view.source.awaitEvaluation();
    } catch (error) {
      announce(error instanceof ApiError ? error.message : "The evaluation was not queued");
    }
    setBusy(false);
  };
  return (
    <button type="button" class="button folds" aria-disabled={busy} onClick={() => !busy && void run()}>
      <Icon name="rotate-cw" />
      Re-evaluate
    </button>
  );
}

function CompareWith({ id, agent, org }: { id: string; agent: string | undefined; org: string }) {
  const [open, setOpen] = useState(false);
  const { data: ids = [] } = useLoad(open && agent !== undefined ? `sessions of ${org} ${agent}` : null, (options) =>
    readNewestIds(agent!, options),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const other = String(new FormData(event.currentTarget as HTMLFormElement).get("other")).trim();
    if (!other) return;
    setOpen(false);
    void navigate(pathOf(org, "compare") + searchOf(new URLSearchParams({ a: id, b: other })));
  };
  return (
    <>
      <button type="button" class="button folds" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="git-compare-arrows" />
        Compare with…
      </button>
      {open && (
        <Dialog title="Compare with" onClose={() => setOpen(false)}>
          <form class="compare-form" onSubmit={submit}>
            <label>
              Session
              <input name="other" list="compare-ids" required autocomplete="off" autofocus />
            </label>
            <datalist id="compare-ids">
              {ids
                .filter((one) => one !== id)
                .map((one) => (
                  <option key={one} value={one} />
                ))}
            </datalist>
            <footer class="dialog-foot">
              <button type="submit" class="button primary">
                Compare
              </button>
            </footer>
          </form>
        </Dialog>
      )}
    </>
  );
}
