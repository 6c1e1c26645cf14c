import { useRef, useState } from "preact/hooks";
import type { RepricingRow } from "../api/types";
import { useAgain, useLoad } from "../kit/data/load";
import { Failed } from "../kit/data/states";
import { TextField } from "../kit/form/fields";
import { useForm } from "../kit/form/form";
import { FormDialog } from "../kit/form/form-dialog";
import { Figures } from "../kit/list/figures";
import { type Column, Table } from "../kit/list/table";
import { announce } from "../kit/overlay/announce";
import { exact } from "../kit/text/formats";
import { Count, Money } from "../kit/text/values";
import { formatInput, parseInput } from "../kit/time/time";
import { zone } from "../kit/time/zone";
import { readRepricing, reprice } from "./api";
import { changeText, isUnderWay, rangeFor, stateText } from "./repricings";

const LOOK_EVERY_MS = 1000;

interface Props {
  /** The moment from which on a saved price holds, or another text. */
  since: string;
  onClose: () => void;
}

/** The dialog "Reprice": the range, what would change, and the run. */
export function RepriceDialog({ since, onClose }: Props) {
  const [preview, setPreview] = useState<string | null>(null);
  const dry = useRef(false);
  const [initial] = useState(() => {
    const { from, to } = rangeFor(since, Date.now());
    return { from: formatInput(from, zone.value), to: formatInput(to, zone.value) };
  });
  const form = useForm(initial, async ({ from, to }) => {
    const moment = (text: string) => parseInput(text, zone.value)?.toISOString() ?? text;
    const { id } = await reprice({ from: moment(from), to: moment(to), dry_run: dry.current });
    if (dry.current) setPreview(id);
    else announce("The repricing has started");
  });
  const look = async () => {
    dry.current = true;
    setPreview(null);
    await form.submit();
    dry.current = false;
  };
  const hint = `Such as 2027-01-31 08:00 in ${zone.value}.`;
  return (
    <FormDialog title="Reprice" kind="wide" verb="Reprice" form={form} onClose={onClose}>
      <p class="dialog-text">
        Stored calls of the range get their cost by the present prices. Reported costs stay as they are.
      </p>
      <div class="field-row">
        <TextField form={form} name="from" label="From" mono hint={hint} />
        <TextField form={form} name="to" label="To" mono hint="Not part of the range." />
      </div>
      <div>
        <button type="button" class="button" aria-disabled={form.busy} onClick={() => void look()}>
          Preview
        </button>
      </div>
      {preview !== null && <Preview id={preview} />}
    </FormDialog>
  );
}

/** What a dry run finds, while it goes on and at its end. */
function Preview({ id }: { id: string }) {
  const load = useLoad(["repricing", id], (options) => readRepricing(id, options));
  const { data: run, error } = load;
  useAgain(run === undefined || isUnderWay(run), load, LOOK_EVERY_MS);
  if (error !== null) return <Failed error={error} onRetry={load.reload} />;
  return (
    <section class="reprice-preview" aria-label="What changes">
      <p role="status">{run && (run.result ? changeText(run.result) : stateText(run))}</p>
      {run?.result && <Result result={run.result} />}
    </section>
  );
}

type Found = NonNullable<RepricingRow["result"]>;

function Result({ result }: { result: Found }) {
  const { before_usd, after_usd, difference_usd, newly_priced, no_longer_priced, by_model } = result;
  return (
    <>
      <Figures
        figures={[
          { label: "Before", value: <Money value={before_usd || null} /> },
          { label: "After", value: <Money value={after_usd || null} /> },
          { label: "Difference", value: <Money value={difference_usd} /> },
          { label: "Newly priced", value: exact(newly_priced) },
          { label: "No longer priced", value: exact(no_longer_priced) },
        ]}
      />
      {by_model.length > 0 && (
        <Table
          label="By model"
          columns={COLUMNS}
          rows={by_model}
          idOf={({ model }) => JSON.stringify(model)}
          scroll="page"
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Found["by_model"][number]>[] = [
  { key: "model", label: "Model", narrow: "title", cell: ({ model }) => model ?? <span class="dim">none</span> },
  { key: "calls", label: "Calls", width: "90px", number: true, cell: ({ calls }) => <Count value={calls} /> },
  {
    key: "changed",
    label: "Changed",
    width: "90px",
    number: true,
    narrow: "note",
    cell: ({ changed }) => <Count value={changed} />,
  },
  {
    key: "before",
    label: "Before",
    width: "110px",
    number: true,
    cell: (row) => <Money value={row.before_usd || null} />,
  },
  {
    key: "after",
    label: "After",
    width: "110px",
    number: true,
    narrow: "value",
    cell: (row) => <Money value={row.after_usd || null} />,
  },
];
