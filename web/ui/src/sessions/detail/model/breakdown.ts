/** Divides a session's time among its tools, models and hooks, with one line for each. */
import type { Kind } from "../../../kit/list/kinds";
import { FAMILY, familyOf, isClose } from "./families";
import type { Session } from "./session";

export interface Line {
  kind: Kind;
  /** Empty for calls without a name. */
  name: string;
  /** Starts, and ends that stand alone. */
  calls: number;
  errors: number;
  /** Milliseconds. */
  time: number;
  p95: number | null;
  /** Input and output tokens together; null where none were reported. */
  tokens: number | null;
}

interface Sum extends Line {
  latencies: number[];
}

const KIND_OF_FAMILY: Record<number, Kind> = { [FAMILY.tool]: "tool", [FAMILY.model]: "model", [FAMILY.hook]: "hook" };

/** The lines, most time first. */
export function breakdown(session: Session): Line[] {
  const { outline, pairs, codes } = session;
  const sums = new Map<number, Sum>();
  for (let i = 0; i < outline.length; i++) {
    const kind = KIND_OF_FAMILY[familyOf(codes[i]!)];
    if (!kind) continue;
    const partner = pairs.partner[i]!;
    const close = isClose(codes[i]!);
    if (close && partner >= 0) continue;
    // The name is that of the start; a start without one takes its end's.
    const name = outline.name[i]! >= 0 || partner < 0 ? outline.name[i]! : outline.name[partner]!;
    const sum = sumOf(sums, kind, name, outline.names[name] ?? "");
    sum.calls++;
    for (const event of partner >= 0 ? [i, partner] : [i]) {
      sum.tokens = add(sum.tokens, outline.inputTokens[event]!);
      sum.tokens = add(sum.tokens, outline.outputTokens[event]!);
    }
    if (outline.error[i] || (partner >= 0 && outline.error[partner])) sum.errors++;
    const latency = partner >= 0 ? pairs.latencyMs[i]! : close ? outline.durationMs[i]! : NaN;
    if (Number.isNaN(latency)) continue;
    sum.time += latency;
    sum.latencies.push(latency);
  }
  return [...sums.values()]
    .map(({ latencies, ...line }) => ({ ...line, p95: quantile(latencies, 0.95) }))
    .sort((one, other) => other.time - one.time || other.calls - one.calls || one.name.localeCompare(other.name));
}

function sumOf(sums: Map<number, Sum>, kind: Kind, place: number, name: string): Sum {
  const key = place * 4 + (kind === "tool" ? 0 : kind === "model" ? 1 : 2);
  let sum = sums.get(key);
  if (!sum) sums.set(key, (sum = { kind, name, calls: 0, errors: 0, time: 0, p95: null, tokens: null, latencies: [] }));
  return sum;
}

const add = (sum: number | null, value: number) => (Number.isNaN(value) ? sum : (sum ?? 0) + value);

/** The quantile between the two nearest values, as ClickHouse's quantileExactInclusive; null of nothing. */
export function quantile(values: number[], level: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const place = level * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}
