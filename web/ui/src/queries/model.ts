// The statement in the editor: where it is kept, and the place that an error is about. Pure functions.
import { ApiError } from "../api/errors";

/** Stands in the editor until somebody writes another one. */
export const EXAMPLE = `SELECT event_type, count() AS events, countIf(is_error) AS failed
FROM events
GROUP BY event_type
ORDER BY events DESC`;

const MOST_IN_URL = 4096;
// Servers and proxies refuse a request whose first line is longer than 8 kB.
const MOST_ENCODED = 7500;

/** Whether a statement is short enough for the URL: up to 4 kB, unless most of it has to be percent-encoded. */
export function fitsUrl(sql: string): boolean {
  const encoded = new URLSearchParams({ sql }).toString();
  return new TextEncoder().encode(sql).length <= MOST_IN_URL && encoded.length <= MOST_ENCODED;
}

/** Whether a link names a list or an aggregate that has a statement, and nothing else of the service. */
export function isListed(of: string): boolean {
  return /^\/(events|evaluations|sessions)(\/[a-z_]+|\/[^/?#]+\/outline)?(\?[^#]*)?$/.test(of);
}

/** The typed text of each parameter, by its number. */
export type Typed = Readonly<Record<number, string>>;

/** The parameters of a URL, `p1`, `p2`, …, over those that were saved with the query. */
export function typedIn(query: URLSearchParams, saved: Typed): Typed {
  const found: Record<number, string> = { ...saved };
  for (const [name, value] of query) {
    const [, number] = /^p(\d+)$/.exec(name) ?? [];
    if (number) found[Number(number)] = value;
  }
  return found;
}

/** The parameters of a URL that say how a result is shown. */
export function viewOf(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => !/^(?:sql|p\d+)$/.test(name)));
}

/** The values that differ from the saved ones. */
export function changedValues(typed: Typed, saved: Typed): Typed {
  return Object.fromEntries(Object.entries(typed).filter(([number, text]) => saved[Number(number)] !== text));
}

/** A stretch of the statement, from its first character to behind its last. */
export interface Place {
  from: number;
  to: number;
}

function wordAt(sql: string, from: number): Place | null {
  if (from < 0 || from >= sql.length) return null;
  const word = /^(?:[\w.]+|.)/su.exec(sql.slice(from));
  return { from, to: from + (word?.[0].length ?? 1) };
}

function offsetOf(sql: string, line: number, column: number): number {
  const lines = sql.split("\n");
  if (line < 1 || line > lines.length) return -1;
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  // Columns count characters; one beyond the basic plane has two units here.
  return before + [...lines[line - 1]!].slice(0, column - 1).join("").length;
}

/** The place that a message names: by line and column, by position, or by a name in backticks. */
export function placeOf(sql: string, message: string): Place | null {
  const at = /line (\d+),? col(?:umn)?\.? (\d+)/i.exec(message);
  if (at) return wordAt(sql, offsetOf(sql, Number(at[1]), Number(at[2])));
  const position = /position (\d+)/i.exec(message);
  if (position) return wordAt(sql, Number(position[1]) - 1);
  for (const [, name] of message.matchAll(/[`'‘]([\w.]+)[`'’]/g)) {
    const found = new RegExp(`(?<![\\w.])${name!.replaceAll(".", "\\.")}(?!\\w)`, "i").exec(sql);
    if (found) return { from: found.index, to: found.index + name!.length };
  }
  return null;
}

/** The reason that an error gives: the database's, else that of the statement or its parameters. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : `${error as string}`;
  const fields = Object.values(error.fields).flat();
  return error.detail ?? (fields.length ? fields.join("; ") : error.message);
}

/** "line 2, column 7" of an offset. */
export function lineAndColumn(sql: string, offset: number): string {
  const before = sql.slice(0, offset).split("\n");
  return `line ${before.length}, column ${[...before.at(-1)!].length + 1}`;
}
