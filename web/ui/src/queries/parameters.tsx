import type { QueryRow } from "../api/types";
import type { Typed } from "./model";

interface Props {
  numbers: readonly number[];
  typed: Typed;
  /** Their names, of the saved query. */
  names: QueryRow["params"];
  onType: (number: number, text: string) => void;
  onRun: () => void;
}

/** A text box for each `$n` of the statement. */
export function Parameters({ numbers, typed, names, onType, onRun }: Props) {
  return (
    <>
      {numbers.map((number) => {
        const name = `${names[number - 1]?.["name"] ?? ""}`;
        return (
          <label key={number} class="sql-parameter">
            <span class="mono" aria-hidden="true" title={name || undefined}>
              ${number}
              {name && ` ${name}`}
            </span>
            <input
              type="text"
              class="mono"
              aria-label={`Parameter ${number}`}
              title="A text, or JSON: 12, true, null, [&quot;a&quot;, &quot;b&quot;]"
              autocomplete="off"
              spellcheck={false}
              value={typed[number] ?? ""}
              size={Math.min(30, Math.max(8, (typed[number] ?? "").length))}
              onInput={(event) => onType(number, event.currentTarget.value)}
              onKeyDown={(event) => event.key === "Enter" && onRun()}
            />
          </label>
        );
      })}
    </>
  );
}
