import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { AttributeFilter } from "../dimensions/attribute-filter";
import { attributeWords } from "../dimensions/values";
import type { Choices } from "../form/choices";
import { Combobox } from "../form/combobox";
import { Icon } from "../icon";
import { Dialog } from "../overlay/dialog";
import { place, setQuery } from "../router";
import { attributeParam, splitValues, withAttributes } from "../url";

export interface Filter {
  /** The API's parameter, also that of the URL. */
  param: string;
  label: string;
  /** The facets. None: values are only typed. */
  choices?: Choices | ((text: string) => Promise<Choices>);
  /** Whether the choices are those for a text, and are read again as it changes. */
  asks?: boolean;
  /**
   * Whether other values than the choices may be typed, as where they are only the most frequent ones. Default: only
   * without choices.
   */
  typed?: boolean;
  /** Marks the field that `/` goes to. */
  search?: boolean;
  /** Whether it takes one number of 0 or more. */
  number?: boolean;
  /** Whether it stands for the parameters of all attributes. */
  attributes?: boolean;
  /** The text of a value on its chip. */
  show?: (value: string) => string;
}

interface Props {
  filters: readonly Filter[];
  /** Further controls of the landmark: a search box, a score. */
  children?: ComponentChildren;
  /** Chips and parameters of those controls. */
  extra?: readonly { param: string; chip: ComponentChildren }[];
}

/** The values of a filter in the URL. */
export function filterValues(param: string): string[] {
  return splitValues(place.value.query.get(param));
}

/** Empties these parameters, and takes the list to its first page. */
export function clearFilters(params: readonly string[]): void {
  setQuery(Object.fromEntries(withAttributes(params, place.value.query).map((param) => [param, null])));
}

interface ChipProps {
  label: string;
  value: string;
  shown?: string;
  onRemove: () => void;
}

/** A filter that is set, and the button that removes it. */
export function Chip({ label, value, shown = value, onRemove }: ChipProps) {
  return (
    <button
      type="button"
      class="chip"
      aria-label={`Remove ${label}: ${value}`}
      title={`Remove ${label}: ${value}`}
      onClick={onRemove}
    >
      <span>{label}</span> <b>{shown}</b>
      <Icon name="x" class="small" />
    </button>
  );
}

function Field({ filter }: { filter: Filter }) {
  const { param, label, choices, asks, typed = !choices, search } = filter;
  return (
    <Combobox
      class="filter"
      label={label}
      placeholder={label}
      values={filterValues(param)}
      choices={choices ?? []}
      asks={asks}
      several
      typed={typed}
      search={search}
      onChange={(values) => setQuery({ [param]: values })}
    />
  );
}

function NumberField({ filter: { param, label } }: { filter: Filter }) {
  return (
    <input
      class="input filter"
      type="number"
      min={0}
      step={1}
      aria-label={label}
      placeholder={label}
      value={filterValues(param)[0] ?? ""}
      onChange={({ currentTarget }) =>
        currentTarget.validity.valid && setQuery({ [param]: currentTarget.value || null })
      }
    />
  );
}

function Fields({ filters, children }: Props) {
  return (
    <>
      {filters.map((filter) =>
        filter.number ? (
          <NumberField key={filter.param} filter={filter} />
        ) : filter.attributes ? (
          <AttributeFilter key={filter.param} label={filter.label} />
        ) : (
          <Field key={filter.param} filter={filter} />
        ),
      )}
      {children}
    </>
  );
}

/** The filters that have values: one of each attribute in place of the one for all. */
function single(filter: Filter): Filter[] {
  if (!filter.attributes) return [filter];
  return withAttributes([filter.param], place.value.query).map((param) => ({
    ...filter,
    param,
    show: (value) => `${param.slice(attributeParam("").length)}: ${attributeWords(value)}`,
  }));
}

/** The search landmark "Filters": a combobox for each filter, and chips of what is set. */
export function Filters(props: Props) {
  const [open, setOpen] = useState(false);
  const { filters, extra = [] } = props;
  const chips = filters.flatMap(single).flatMap(({ param, label, show }) => {
    const values = filterValues(param);
    const without = (value: string) => setQuery({ [param]: values.filter((one) => one !== value) });
    return values.map((value) => (
      <Chip key={`${param} ${value}`} label={label} value={show?.(value) ?? value} onRemove={() => without(value)} />
    ));
  });
  const further = extra.filter(({ param }) => place.value.query.has(param));
  const count = chips.length + further.length;
  const clear = count > 0 && (
    <button
      type="button"
      class="button ghost clear"
      onClick={() => clearFilters([...filters.map(({ param }) => param), ...extra.map(({ param }) => param)])}
    >
      Clear filters
    </button>
  );
  return (
    <search class="filters" aria-label="Filters">
      {chips}
      {further.map(({ chip }) => chip)}
      <span class="filters-wide">
        <Fields {...props} />
      </span>
      <button type="button" class="button filters-narrow" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="filter" />
        Filters
      </button>
      {clear}
      {open && (
        <Dialog title="Filters" onClose={() => setOpen(false)}>
          <div class="filters-dialog">
            <Fields {...props} />
          </div>
          <footer class="dialog-foot">
            <button type="button" class="button primary" onClick={() => setOpen(false)}>
              Show
            </button>
          </footer>
        </Dialog>
      )}
    </search>
  );
}
