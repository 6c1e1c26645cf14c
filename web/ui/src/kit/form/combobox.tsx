import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon } from "../icon";
import { announce } from "../overlay/announce";
import { type Choice, type Choices, fitting, nameOf, normal, noteOf, takenByEnter } from "./choices";

interface Props {
  label: string;
  /** The chosen values: any number of them with `several`, else none or one. */
  values: readonly string[];
  onChange: (values: string[]) => void;
  choices: Choices | ((text: string) => Promise<Choices>);
  /** Whether the choices are those for the text, and are read again as it changes. */
  asks?: boolean | undefined;
  several?: boolean;
  /** Closes the list after each of several choices, so that it does not lie over what follows. */
  closes?: boolean;
  /** Whether a value may be typed that is no choice. */
  typed?: boolean;
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
const TYPING_MS = 150;

interface Known {
  all: readonly Choice[];
  /** Whether these are all; else more may come. */
  ready: boolean;
}

/** Reads the choices each time the list opens, and for another text. Those of the last time stand there until then. */
function useChoices(choices: Props["choices"], open: boolean, text: string): Known {
  const [loaded, setLoaded] = useState<Known>({ all: [], ready: false });
  const turn = useRef(0);
  useEffect(() => {
    if (typeof choices !== "function" || !open) return;
    const now = ++turn.current;
    setLoaded(({ all }) => ({ all, ready: false }));
    const take = (change: (known: Known) => Known) => now === turn.current && setLoaded(change);
    const read = () => {
      if (now !== turn.current) return;
      choices(text).then(
        (found) => take(() => ({ all: normal(found), ready: true })),
        () => take(({ all }) => ({ all, ready: true })), // what is typed still works
      );
    };
    if (text) setTimeout(read, TYPING_MS);
    else read();
  }, [open, text]);
  return typeof choices === "function" ? loaded : { all: normal(choices), ready: true };
}

/** A text field with a list of choices. */
export function Combobox(props: Props) {
  const { label, values, onChange, several = false, typed = false, placeholder } = props;
  const [text, setText] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLUListElement>(null);
  const listId = useId();
  const { all, ready } = useChoices(props.choices, open, props.asks ? (text ?? "").trim() : "");
  // Texts of an Enter that came before the choices. Each waits for them, also after the field was left.
  const [entered, setEntered] = useState<readonly string[]>([]);
  const shown = fitting(all, text ?? "").slice(0, MOST_SHOWN);
  const note = ready ? noteOf(all, text ?? "", typed) : null;
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
  const done = () => {
    if (several && !props.closes) setText(null);
    else close();
  };
  const choose = (value: string) => {
    onChange(several ? (values.includes(value) ? values.filter((one) => one !== value) : [...values, value]) : [value]);
    done();
  };
  const add = (value: string, written: string) => {
    onChange(several ? [...new Set([...values, value])] : [value]);
    // What was typed since then stays.
    if (text === written) done();
  };
  const enter = (written: string) => {
    const value = takenByEnter(all, written, typed);
    if (value !== null) add(value, written);
  };
  useEffect(() => {
    if (!ready || !entered.length) return;
    setEntered(entered.slice(1));
    enter(entered[0]!);
  }, [ready, entered]);
  /** @returns whether Enter meant the list, and not the form around the field */
  const onEnter = (asTyped: boolean): boolean => {
    const highlighted = shown[active];
    if (asTyped && typed && text?.trim()) add(text.trim(), text);
    else if (highlighted) choose(highlighted.value);
    else if (text?.trim() && !ready) setEntered([...entered, text]);
    else if (text?.trim()) enter(text);
    else if (text === "" && !several) {
      onChange([]);
      close();
    } else return Boolean(text);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (open && shown.length) setActive((active + step + shown.length) % shown.length);
      setOpen(true);
    } else if (event.key === "Enter" && open) {
      // A text that fits no choice stays, and must not send the form.
      if (!onEnter(event.shiftKey)) return;
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
        aria-busy={(open && !ready) || undefined}
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
          if (typed && text?.trim() && !entered.includes(text))
            announce(`“${text.trim()}” was not taken. Press Enter to take what you type.`);
          close();
        }}
      />
      <Icon name="chevron-down" class="small" />
      <ul
        ref={list}
        id={listId}
        class="listbox"
        role="listbox"
        aria-label={label}
        aria-multiselectable={several || undefined}
        hidden={!open || (!shown.length && note === null)}
      >
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
        {note !== null && (
          <li class="dim" role="presentation">
            {note}
          </li>
        )}
      </ul>
    </span>
  );
}
