import { own } from "../../kit/data/own";
import { compact, decimal, duration, exact } from "../../kit/text/formats";
import { money } from "../../kit/text/money";
import { Money } from "../../kit/text/values";
import { type Amount, costByModel } from "../detail/model/costs";
import type { Comparison, Side } from "./load";
import { type Totals, totalsOf } from "./model/symbols";

interface Line {
  name: string;
  left: number | null;
  right: number | null;
  show: (value: number) => string;
  /** The calls without a price on both sides, with which an amount is a lower bound. */
  unpriced?: readonly [number, number];
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
function Delta({ name, left, right, show, more, unpriced }: Line) {
  // Of a lower bound nothing tells how far it is from the other amount.
  const isExact = left !== null && right !== null && !unpriced?.some(Boolean);
  const change = isExact ? right - left : 0;
  const tone = change === 0 || !more ? "" : change > 0 === (more === "better") ? "ok" : "err";
  const value = (number: number | null, side: 0 | 1) =>
    unpriced ? (
      <td role="cell">
        <Money value={number} unpriced={unpriced[side]} />
      </td>
    ) : (
      <td role="cell" title={number === null ? undefined : exact(number)}>
        {number === null ? "–" : show(number)}
      </td>
    );
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        {name}
      </th>
      {value(left, 0)}
      {value(right, 1)}
      <td role="cell" class={`delta ${tone}`}>
        {isExact ? difference(change, show) : ""}
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
    ...classesOf(left.facts, right.facts),
    ...costLines(left.facts, right.facts),
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

const CLASSES = [
  ["cache_read_tokens", "Cached"],
  ["cache_write_tokens", "Cache writes"],
  ["cache_write_1h_tokens", "Cache writes, 1 h"],
  ["reasoning_tokens", "Reasoning"],
] as const;

type Facts = Side["facts"];

/** The classes of tokens that one of both has. */
function classesOf(left: Facts, right: Facts): Line[] {
  return CLASSES.filter(([key]) => left?.[key] || right?.[key]).map(([key, name]) => ({
    name,
    left: left?.[key] ?? null,
    right: right?.[key] ?? null,
    show: compact,
  }));
}

/** The cost of both, in all and of each model. */
function costLines(left: Facts, right: Facts): Line[] {
  const calls = (left?.model_calls ?? 0) + (right?.model_calls ?? 0);
  if (!calls) return [];
  const amount = (facts: Facts): Amount => ({ value: facts?.cost_usd ?? null, unpriced: facts?.unpriced_calls ?? 0 });
  const models = [left, right].map((facts) => costByModel(facts?.costs ?? []));
  const names = [...new Set(models.flatMap((each) => [...each.keys()]))];
  const line = (name: string, one: Amount = NO_CALLS, other: Amount = NO_CALLS): Line => ({
    name,
    left: one.value,
    right: other.value,
    unpriced: [one.unpriced, other.unpriced],
    show: money,
    more: "worse",
  });
  return [
    line("Cost", amount(left), amount(right)),
    ...names.map((name) => line(`Cost of ${name}`, models[0]!.get(name), models[1]!.get(name))),
  ];
}

/** A session without calls of a model spent nothing on it. */
const NO_CALLS: Amount = { value: 0, unpriced: 0 };

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
