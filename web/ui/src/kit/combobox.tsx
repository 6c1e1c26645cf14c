import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon } from "./icon";

export interface Choice {
  value: string;
  /** The text in the list. Default: the value. */
  label?: string | undefined;
  /** Stands at the right, dim: a count, a type. */
  note?: string | undefined;
}

export type Choices = readonly (string | Choice)[];

interface Props {
  label: string;
  /** The chosen values: any number of them with `several`, else none or one. */
  values: readonly string[];
  onChange: (values: string[]) => void;
  choices: Choices | (() => Promise<Choices>);
  several?: boolean;
  /** Closes the list after each of several choices, so that it does not lie over what follows. */
  closes?: boolean;
  /** Whether a value may be typed that is no choice. */
  typed?: boolean;
  /** Whether what was typed goes when the field is left without Enter, as in filters. Fields of forms keep it. */
  drops?: boolean;
  /** Shown while the field is empty. */
  placeholder?: string | undefined;
  /** For a field with a visible label of its own. */
  id?: string | undefined;
  describedBy?: string | undefined;
  invalid?: boolean | undefined;
  class?: string | undefined;
  /** Marks the search of the page, which `/` goes to. */
  search?: boolean | undefined;
}

const MOST_SHOWN = 200;

function normal(choices: Choices): Choice[] {
  return choices.map((choice) => (typeof choice === "string" ? { value: choice } : choice));
}

function nameOf(choice: Choice): string {
  return choice.label ?? choice.value;
}

function useChoices(choices: Props["choices"], open: boolean): Choice[] {
  const [loaded, setLoaded] = useState<Choice[]>([]);
  useEffect(() => {
    if (typeof choices !== "function" || !open) return;
    let current = true;
    choices().then(
      (found) => current && setLoaded(normal(found)),
      () => undefined, // what is typed still works
    );
    return () => void (current = false);
  }, [open]);
  return typeof choices === "function" ? loaded : normal(choices);
}

/** A text field with a list of choices. */
export function Combobox(props: Props) {
  const { label, values, onChange, several = false, typed = false, placeholder } = props;
  const [text, setText] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLUListElement>(null);
  const listId = useId();
  const all = useChoices(props.choices, open);
  const needle = (text ?? "").toLowerCase();
  const shown = all.filter((choice) => nameOf(choice).toLowerCase().includes(needle)).slice(0, MOST_SHOWN);
  const current = all.find(({ value }) => value === values[0]);
  const resting = several ? "" : current ? nameOf(current) : (values[0] ?? "");
  // A dialog scrolls rather than cuts the list off.
  useEffect(() => {
    if (open) list.current?.scrollIntoView({ block: "nearest" });
  }, [open, shown.length]);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const close = () => {
    setOpen(false);
    setText(null);
    setActive(-1);
  };
  const choose = (value: string) => {
    if (several) {
      onChange(values.includes(value) ? values.filter((one) => one !== value) : [...values, value]);
      if (props.closes) close();
      else setText(null);
    } else {
      onChange([value]);
      close();
    }
  };
  const commit = (byKey = false): boolean => {
    const only = byKey && needle && shown.length === 1 ? shown[0] : undefined;
    const choice = shown[active] ?? shown.find((one) => nameOf(one).toLowerCase() === needle) ?? only;
    if (choice) choose(choice.value);
    else if (typed && text?.trim()) {
      const value = text.trim();
      onChange(several ? [...new Set([...values, value])] : [value]);
      close();
    } else if (!several && text === "") {
      onChange([]);
      close();
    } else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (open && shown.length) setActive((active + step + shown.length) % shown.length);
      setOpen(true);
    } else if (event.key === "Enter" && open) {
      // A text that fits no choice stays, and must not send the form.
      if (!commit(true) && !text) return;
    } else if (event.key === "Escape" && open) {
      close();
    } else if (event.key === "Backspace" && several && !text && values.length) {
      onChange(values.slice(0, -1));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class={props.class ? `combobox ${props.class}` : "combobox"}>
      <input
        type="text"
        id={props.id}
        role="combobox"
        aria-label={props.id ? undefined : label}
        aria-expanded={open}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined}
        aria-describedby={props.describedBy}
        aria-invalid={props.invalid || undefined}
        autocomplete="off"
        spellcheck={false}
        data-search={props.search || undefined}
        placeholder={placeholder}
        value={text ?? resting}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => setOpen(true)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
          setActive(-1);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          if (typed && !props.drops && text?.trim()) commit();
          close();
        }}
      />
      <Icon name="chevron-down" class="small" />
      <ul ref={list} id={listId} class="listbox" role="listbox" aria-label={label} aria-multiselectable={several || undefined} hidden={!open || (!shown.length && !text)}>
        {shown.map((choice, index) => (
          <li
            key={choice.value}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={values.includes(choice.value)}
            class={index === active ? "active" : undefined}
            // The field keeps the focus, so that its blur does not close the list first.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(choice.value)}
          >
            {several && <Icon name="check" class={values.includes(choice.value) ? "small" : "small invisible"} />}
            <span class="grow">{nameOf(choice)}</span>
            {choice.note && <small>{choice.note}</small>}
          </li>
        ))}
        {!shown.length && text && <li class="dim" role="presentation">{typed ? `Enter uses “${text}”` : "Nothing fits"}</li>}
      </ul>
    </span>
  );
}
