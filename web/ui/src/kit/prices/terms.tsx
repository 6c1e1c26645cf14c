// The amounts in the form of a price: of each class, for large contexts, and for service tiers.
import type { ComponentChildren } from "preact";
import { SelectField, TextField } from "../form/fields";
import type { Form } from "../form/form";
import { type Draft, NO_TIER, NO_VARIANT, textAt, withText } from "./draft";
import { CLASSES, type PriceClass, unitOf } from "./words";

/** What a price that is not given is. */
const FOLLOWS: Partial<Record<PriceClass, string>> = {
  cache_read: "as input",
  cache_write: "as input",
  cache_write_1h: "as cache write",
  reasoning: "as output",
  input_audio: "as input",
  output_audio: "as output",
  web_search: "0",
  request: "0",
};
const TIERS = ["batch", "fast", "flex", "priority"];

/** The part of a form at a path, as a form of one text. */
function at(form: Form<Draft>, path: string): Form<Record<string, string>> {
  const top = path.split(".")[0] as keyof Draft;
  return {
    ...form,
    values: { [path]: textAt(form.values, path) },
    set: (_, text) => form.set(top, withText(form.values, path, text)[top]),
    reset: () => undefined,
  };
}

interface PartProps {
  form: Form<Draft>;
  path: string;
}

/** A field for each class. */
export function Prices({ form, path }: PartProps) {
  // Elsewhere what is missing stays as it is in the prices themselves.
  const follows = (name: PriceClass) => (path === "prices" ? FOLLOWS[name] : "same");
  return (
    <div class="price-grid">
      {(Object.keys(CLASSES) as PriceClass[]).map((name) => (
        <TextField
          key={name}
          form={at(form, `${path}.${name}`)}
          name={`${path}.${name}`}
          label={CLASSES[name]}
          type="number"
          placeholder={follows(name) ?? `$ / ${unitOf(name)}`}
        />
      ))}
    </div>
  );
}

interface RowsProps<Row> {
  rows: readonly Row[];
  title: string;
  /** The name of one: "Large context". */
  noun: string;
  hint: string;
  onChange: (rows: Row[]) => void;
  empty: Row;
  children: (index: number) => ComponentChildren;
}

/** A group of parts that one adds and removes. */
function Rows<Row>({ rows, title, noun, hint, onChange, empty, children }: RowsProps<Row>) {
  return (
    <fieldset class="price-rows">
      <legend class="field-label">{title}</legend>
      <p class="field-hint">{hint}</p>
      {rows.map((_, index) => (
        <fieldset key={index} class="price-part">
          <legend class="visually-hidden">{`${noun} ${index + 1}`}</legend>
          {children(index)}
          <button type="button" class="button small" onClick={() => onChange(rows.filter((_, one) => one !== index))}>
            Remove {noun.toLowerCase()} {index + 1}
          </button>
        </fieldset>
      ))}
      <button type="button" class="button small" onClick={() => onChange([...rows, empty])}>
        Add {noun.toLowerCase()}
      </button>
    </fieldset>
  );
}

/** The tiers of a price, or of the variant with this index. */
export function LargeContexts({ form, path, title, variant }: PartProps & { title: string; variant?: number }) {
  const { tiers, variants } = form.values;
  return (
    <Rows
      title={title}
      noun="Large context"
      hint="Where the whole input of a call is greater, these prices count for all its tokens."
      rows={variant === undefined ? tiers : variants[variant]!.tiers}
      empty={NO_TIER}
      onChange={(rows) =>
        variant === undefined
          ? form.set("tiers", rows)
          : form.set(
              "variants",
              variants.map((one, index) => (index === variant ? { ...one, tiers: rows } : one)),
            )
      }
    >
      {(index) => (
        <>
          <TextField
            form={at(form, `${path}.${index}.above_input_tokens`)}
            name={`${path}.${index}.above_input_tokens`}
            label="Above (tokens)"
            type="number"
            placeholder="200,000"
          />
          <Prices form={form} path={`${path}.${index}.prices`} />
        </>
      )}
    </Rows>
  );
}

/** The prices of service tiers and times of day. */
export function Variants({ form }: { form: Form<Draft> }) {
  return (
    <Rows
      title="Service tiers"
      noun="Service tier"
      hint="The first that fits a call counts: its prices, or a factor of all prices of tokens."
      rows={form.values.variants}
      empty={NO_VARIANT}
      onChange={(rows) => form.set("variants", rows)}
    >
      {(index) => {
        const path = `variants.${index}`;
        const text = (name: string, label: string, placeholder: string) => (
          <TextField
            form={at(form, `${path}.${name}`)}
            name={`${path}.${name}`}
            label={label}
            placeholder={placeholder}
          />
        );
        return (
          <>
            <div class="field-row">
              <SelectField
                form={at(form, `${path}.when.service_tier`)}
                name={`${path}.when.service_tier`}
                label="Tier"
                choices={TIERS}
                typed
                placeholder="any"
              />
              {text("when.utc_time", "Hours (UTC)", "16:30-00:30")}
              {text("factor", "Factor", "0.5")}
            </div>
            <Prices form={form} path={`${path}.prices`} />
            <LargeContexts form={form} path={`${path}.tiers`} title="Its large contexts" variant={index} />
          </>
        );
      }}
    </Rows>
  );
}
