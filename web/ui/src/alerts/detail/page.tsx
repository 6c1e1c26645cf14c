import { useState } from "preact/hooks";
import { can } from "../../api/session";
import type { AlertRow, DeliveryTest } from "../../api/types";
import { useLoad } from "../../kit/data/load";
import { Loaded } from "../../kit/data/loaded";
import { sqlOfRule } from "../../kit/data/statements";
import { Failed } from "../../kit/data/states";
import { FormView, useForm } from "../../kit/form/form";
import { Severity } from "../../kit/list/severity";
import { ViewToolbar } from "../../kit/list/toolbar";
import { announce } from "../../kit/overlay/announce";
import { confirm } from "../../kit/overlay/dialog";
import { Page, type PageProps } from "../../kit/page";
import { navigate, param } from "../../kit/router";
import { Pill } from "../../kit/text/values";
import { spanText } from "../../kit/time/spans";
import { pathOf } from "../../kit/url";
import { deleteAlert, readAlert, saveAlert, sendTest } from "../api";
import { KINDS } from "../choices";
import { conditionText } from "../condition";
import { bodyOf, draftOf } from "../model";
import { RuleFields } from "./fields";
import { NoticeFields } from "./notice-fields";
import { Preview } from "./preview";
import { AlertState } from "./state";

/** The pages "New alert" and that of one alert. */
export default function AlertPage({ org, id }: PageProps) {
  if (!id)
    return (
      <Page title="New alert">
        <Editor org={org} alert={null} />
      </Page>
    );
  return <Existing key={id} org={org} id={id} />;
}

function Existing({ org, id }: { org: string; id: string }) {
  const load = useLoad(`alert ${org} ${id}`, (options) => readAlert(id, options));
  const alert = load.data;
  const [problem, setProblem] = useState<unknown>(null);
  const [test, setTest] = useState<DeliveryTest | null>(null);
  const attempt = async (action: () => Promise<void>) => {
    try {
      await action();
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  const remove = async ({ name }: AlertRow) => {
    if (await confirm({ title: `Delete ${name}?`, verb: "Delete", text: "Its incidents are deleted too." }))
      await attempt(async () => {
        await deleteAlert(id);
        await navigate(pathOf(org, "alerts"));
      });
  };
  const sql = alert && sqlOfRule(alert);
  const head = (
    <>
      <ViewToolbar
        curl={() => ({ route: "GET /alerts/{alert_id}", path: { alert_id: id } })}
        sql={sql === undefined ? undefined : () => sql}
        onRefresh={load.reload}
      />
      {alert && can("alerts:write") && (
        <>
          <button type="button" class="button" onClick={() => void attempt(async () => setTest(await sendTest(id)))}>
            Send test
          </button>
          <button type="button" class="button" onClick={() => void remove(alert)}>
            Delete
          </button>
        </>
      )}
    </>
  );
  const badges = alert && (
    <>
      {!alert.enabled && <Pill>Disabled</Pill>}
      <Severity value={alert.severity} />
    </>
  );
  return (
    <Page title={alert?.name ?? "Alert"} badges={badges} actions={head}>
      {problem !== null && <Failed error={problem} />}
      {test && <Tested test={test} />}
      <Loaded load={load}>
        {(data) => (
          <>
            <AlertState org={org} alert={data} onLook={load.reload} />
            {can("alerts:write") ? (
              <Editor key={data.updated_at} org={org} alert={data} onSaved={load.set} />
            ) : (
              <ReadOnly alert={data} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Tested({ test: { ok, deliveries } }: { test: DeliveryTest }) {
  return (
    <div class={ok ? "notice" : "notice warn"} role="status">
      {ok ? "The test was sent" : "The test failed"}:{" "}
      {deliveries.map((one) => `${one.channel} ${one.error ?? one.status}`).join(", ") || "no channels"}
    </div>
  );
}

function ReadOnly({ alert }: { alert: AlertRow }) {
  return (
    <div class="alert-editor">
      <p>{conditionText(alert)}</p>
      {alert.description && <p class="dim">{alert.description}</p>}
      <p class="dim">
        Evaluated every {spanText(alert.eval_interval_secs)}.{" "}
        {alert.channels.length
          ? `Channels: ${alert.channels.map(({ kind }) => `${kind as string}`).join(", ")}.`
          : "No channels."}
      </p>
      {alert.last_error && <p class="err">{alert.last_error}</p>}
    </div>
  );
}

interface EditorProps {
  org: string;
  alert: AlertRow | null;
  onSaved?: (alert: AlertRow) => void;
}

function Editor({ org, alert, onSaved }: EditorProps) {
  // The page "Costs" begins with a budget: `?trigger=budget`.
  const asked = KINDS.find(({ value }) => value === param("trigger"))?.value;
  const form = useForm(draftOf(alert, asked), async (draft) => {
    const saved = await saveAlert(alert?.id ?? null, bodyOf(draft));
    announce(`${draft.name} is saved`);
    if (onSaved) onSaved(saved);
    else await navigate(pathOf(org, "alerts", saved.id));
  });
  return (
    <div class="alert-editor">
      {alert?.last_error && <p class="notice warn">{alert.last_error}</p>}
      <FormView form={form}>
        <RuleFields form={form} />
        <Preview draft={form.values} />
        <NoticeFields form={form} />
        <div class="alert-part">
          <button type="submit" class="button primary">
            Save
          </button>
        </div>
      </FormView>
    </div>
  );
}
