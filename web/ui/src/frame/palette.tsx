import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../kit/icon";
import { Dialog } from "../kit/overlay/dialog";
import { type Command, fixedCommands, readCommands, sessionCommand } from "./commands";
import { paletteOpen } from "./open";
import { ranked } from "./rank";

const MOST_SHOWN = 50;

/** The dialog "Command palette". */
export function Palette() {
  return paletteOpen.value ? <PaletteDialog onClose={() => void (paletteOpen.value = false)} /> : null;
}

/** The commands that fit. Without a text these are the pages and actions. */
function useCommands(text: string): Command[] {
  const fixed = useMemo(fixedCommands, []);
  const [read, setRead] = useState<readonly Command[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    void readCommands((found) => setRead((before) => [...before, ...found]), controller.signal);
    return () => controller.abort();
  }, []);
  const typed = text.trim();
  if (!typed) return fixed;
  const found = ranked([...fixed, ...read], typed, MOST_SHOWN);
  const isListed = found.some(({ label, note }) => note === "Session" && label === typed);
  return isListed ? found : [...found, ...sessionCommand(typed)];
}

function PaletteDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const found = useCommands(text);
  const chosen = Math.min(active, found.length - 1);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) setActive((chosen + step + found.length) % found.length);
    else if (event.key === "Enter") run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Command palette" kind="palette" onClose={onClose}>
      <div class="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search or jump to"
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={found.length ? `${id}-${chosen}` : undefined}
          placeholder="A page, a session, a saved query, …"
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd aria-hidden="true">Esc</kbd>
      </div>
      <ul ref={list} id={id} class="palette-list" role="listbox" aria-label="Commands" hidden={!found.length}>
        {found.map((command, index) => (
          <Option
            key={`${command.note} ${index}`}
            id={`${id}-${index}`}
            command={command}
            chosen={index === chosen}
            onRun={() => run(command)}
            onPoint={() => setActive(index)}
          />
        ))}
      </ul>
      {!found.length && (
        <p class="palette-nothing" role="status">
          Nothing has this name.
        </p>
      )}
    </Dialog>
  );
}

interface OptionProps {
  id: string;
  command: Command;
  chosen: boolean;
  onRun: () => void;
  onPoint: () => void;
}

function Option({ id, command: { label, icon, note, keys }, chosen, onRun, onPoint }: OptionProps) {
  return (
    <li id={id} role="option" aria-selected={chosen} onClick={onRun} onPointerMove={onPoint}>
      <Icon name={icon} />
      <span class={note === "Session" ? "palette-label mono" : "palette-label"}>{label}</span>
      <small>{note}</small>
      {keys && (
        <span class="palette-keys" aria-hidden="true">
          {keys.split(" ").map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </span>
      )}
    </li>
  );
}
