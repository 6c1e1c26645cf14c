import { useRef } from "preact/hooks";
import type { PriceRow } from "../../api/types";
import type { Choice } from "../form/choices";
import { Combobox } from "../form/combobox";
import { TextField } from "../form/fields";
import { type Form, useForm } from "../form/form";
import { FormDialog } from "../form/form-dialog";
import { announce } from "../overlay/announce";
import { zone } from "../time/zone";
import { readPrices, savePrice } from "./api";
import { bodyOf, type Draft, draftOf, termsOf } from "./draft";
import { LargeContexts, Prices, Variants } from "./terms";

export interface PriceDialogProps {
  /** The price to edit, or what a new one begins with. */
  row: Partial<PriceRow>;
  onClose: () => void;
  onSaved: (row: PriceRow) => void;
}

/** The dialog "New price", or "Edit price" of a row with an id. */
export default function PriceDialog({ row, onClose, onSaved }: PriceDialogProps) {
  const saved = useRef<PriceRow | null>(null);
  const form = useForm(draftOf(row, zone.value), async (draft) => {
    saved.current = await savePrice(row.id ?? null, bodyOf(draft, zone.value));
    announce(`The price of ${draft.model} is saved`);
  });
  return (
    <FormDialog
      title={row.id ? "Edit price" : "New price"}
      kind="wide"
      verb="Save"
      form={form}
      onClose={onClose}
      onDone={() => saved.current && onSaved(saved.current)}
    >
      <div class="field-row">
        <TextField
          form={form}
          name="model"
          label="Model"
          mono
          autofocus={!row.model}
          hint="As events spell it; * is any text."
        />
        <TextField form={form} name="provider" label="Provider" placeholder="any" />
        <TextField
          form={form}
          name="valid_from"
          label="Valid from"
          placeholder="always"
          hint={`Such as 2027-01-31 08:00 in ${zone.value}.`}
        />
      </div>
      <CopyFrom form={form} />
      <Prices form={form} path="prices" />
      <p class="field-hint">US dollars: of a million tokens, of a thousand searches or requests.</p>
      <LargeContexts form={form} path="tiers" title="Large contexts" />
      <Variants form={form} />
      <TextField form={form} name="note" label="Note" />
    </FormDialog>
  );
}

/** Fills the form with what another price costs. */
function CopyFrom({ form }: { form: Form<Draft> }) {
  const prices = useRef<PriceRow[]>([]);
  const choices = async (): Promise<Choice[]> => {
    if (!prices.current.length) prices.current = await readPrices();
    return prices.current.map(({ id, model, provider, valid_from, source }) => ({
      value: id,
      label: model,
      note: [provider, valid_from?.slice(0, 10), source === "builtin" ? "built in" : "own"].filter(Boolean).join(", "),
    }));
  };
  const copy = (id: string | undefined) => {
    const row = prices.current.find((one) => one.id === id);
    if (!row) return;
    const { prices: amounts, tiers, variants } = termsOf(row);
    form.set("prices", amounts);
    form.set("tiers", tiers);
    form.set("variants", variants);
    if (!form.values.model) form.set("model", row.model);
  };
  return (
    <div class="field">
      <label for="price-copy">Copy from</label>
      <Combobox
        id="price-copy"
        label="Copy from"
        placeholder="a price to begin with"
        values={[]}
        choices={choices}
        onChange={([id]) => copy(id)}
      />
    </div>
  );
}
