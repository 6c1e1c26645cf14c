import { useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../icon";
import { useVirtual } from "../list/virtual";
import { plural } from "./formats";
import { type Line, linesOf } from "./json-lines";

const LINE = 18;
const VIRTUAL_FROM = 400;
const LARGE = 256 * 1024;
/** Values below this level start folded, so that no payload is too deep to be drawn. */
const DEEP = 60;
/** Further levels stand below each other: the text must not leave the panel. */
const MOST_INDENTED = 24;

interface Props {
  label: string;
  value: unknown;
  /** Bytes of the text. Above 256 kB everything below the first level starts folded, else what is very deep. */
  size?: number | undefined;
}

/** A JSON value with line numbers. Objects and arrays fold; JSON within strings is opened. */
export function Json({ label, value, size = 0 }: Props) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const large = size > LARGE;
  const lines = useMemo(
    () => linesOf(value, (pointer, depth) => ((large && depth > 0) || depth >= DEEP) !== toggled.has(pointer)),
    [value, large, toggled],
  );
  const list = useRef<HTMLDivElement>(null);
  const { first, last } = useVirtual(list, lines.length, LINE, { from: VIRTUAL_FROM });
  const toggle = (pointer: string) => {
    const next = new Set(toggled);
    if (!next.delete(pointer)) next.add(pointer);
    setToggled(next);
  };
  return (
    <div class="json" role="group" aria-label={label} tabIndex={0}>
      <div
        ref={list}
        style={
          lines.length > VIRTUAL_FROM
            ? { paddingTop: `${first * LINE}px`, paddingBottom: `${(lines.length - last) * LINE}px` }
            : undefined
        }
      >
        {lines.slice(first, last).map((line, index) => (
          <JsonLine
            key={first + index}
            number={first + index + 1}
            line={line}
            onToggle={toggle}
            fixed={lines.length > VIRTUAL_FROM}
            open={toggled}
          />
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  number: number;
  line: Line;
  /** Keeps to one row of pixels, as long lists need. */
  fixed: boolean;
  open: ReadonlySet<string>;
  onToggle: (pointer: string) => void;
}

function JsonLine({ number, line, fixed, open, onToggle }: LineProps) {
  const { depth, key, text, kind, fold, size, value } = line;
  const long = kind === "string" && fold !== null;
  const whole = long && open.has(fold);
  const folded = kind === "bracket" && text.includes("…");
  return (
    <div class={fixed && !whole ? "json-line fixed" : "json-line"}>
      <i aria-hidden="true">{number}</i>
      <span class="json-text" style={{ paddingLeft: `${Math.min(depth, MOST_INDENTED) * 14}px` }}>
        {fold !== null && (
          <button
            type="button"
            class="json-fold"
            aria-expanded={long ? whole : !folded}
            aria-label={long ? "Whole text" : plural(size, "value")}
            onClick={() => onToggle(fold)}
          >
            <Icon name="chevron-right" class={folded || (long && !whole) ? "small" : "small turned"} />
          </button>
        )}
        {key && <span class="json-key">{key}: </span>}
        <span class={`json-${kind}`}>{whole ? JSON.stringify(value) : text}</span>
        {folded && <small class="dim"> {plural(size, "value")}</small>}
        {long && !whole && <small class="dim"> {(value as string).length.toLocaleString("en")} characters</small>}
      </span>
    </div>
  );
}
