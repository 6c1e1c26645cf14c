import { own } from "../../kit/data/own";
import { compact, decimal, duration, exact } from "../../kit/text/formats";
import type { Comparison, Side } from "./load";
import { type Totals, totalsOf } from "./model/symbols";

interface Line {
  name: string;
  left: number | null;
  right: number | null;
  show: (value: number) => string;
  /** Whether more of it is better, worse, or neither. */
  more?: "better" | "worse";
}

/** The differences between the second session and the first: time, tokens, errors and scores. */
export function Deltas({ comparison: { left, right } }: { comparison: Comparison }) {
  const lines = linesOf(left, right);
  return (
    <table class="deltas" role="table" aria-label="Differences">
      <thead role="rowgroup" class="visually-hidden">
        <tr role="row">
          {["Measure", left.id, right.id, "Difference"].map((name, index) => (
            <th key={index} role="columnheader" scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {lines.map((line) => (
          <Delta key={line.name} {...line} />
        ))}
      </tbody>
    </table>
  );
}

// Roles are written out, because a table that is laid out as blocks loses them.
function Delta({ name, left, right, show, more }: Line) {
  const change = left === null || right === null ? 0 : right - left;
  const tone = change === 0 || !more ? "" : change > 0 === (more === "better") ? "ok" : "err";
  const value = (number: number | null) => (
    <td role="cell" title={number === null ? undefined : exact(number)}>
      {number === null ? "–" : show(number)}
    </td>
  );
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        {name}
      </th>
      {value(left)}
      {value(right)}
      <td role="cell" class={`delta ${tone}`}>
        {left === null || right === null ? "" : difference(change, show)}
      </td>
    </tr>
  );
}

function difference(value: number, show: (value: number) => string): string {
  return value === 0 ? "0" : `${value > 0 ? "+" : "−"}${show(Math.abs(value))}`;
}

function linesOf(left: Side, right: Side): Line[] {
  const [one, other] = [totals(left), totals(right)];
  const line = (name: string, key: keyof Totals, show: (value: number) => string): Line => ({
    name,
    left: one?.[key] ?? null,
    right: other?.[key] ?? null,
    show,
  });
  const scores = [left, right].map((side) => side.facts?.latest_evaluation?.scores ?? {});
  const keys = [...new Set(scores.flatMap((each) => Object.keys(each)))].sort();
  return [
    line("Time", "time", duration),
    line("Events", "events", exact),
    { ...line("Errors", "errors", exact), more: "worse" },
    line("Tokens in", "inputTokens", compact),
    line("Tokens out", "outputTokens", compact),
    ...keys.map(
      (key): Line => ({
        name: key,
        left: own(scores[0], key) ?? null,
        right: own(scores[1], key) ?? null,
        show: decimal,
        more: "better",
      }),
    ),
  ];
}

function totals({ outline, facts }: Side): Totals | null {
  if (outline) return totalsOf(outline);
  if (!facts) return null;
  return {
    time: Date.parse(facts.last_event_at) - Date.parse(facts.started_at),
    events: facts.event_count,
    errors: facts.error_count,
    inputTokens: facts.input_tokens,
    outputTokens: facts.output_tokens,
  };
}
