// Parts of statements. Values are always literals, never parts of the text.

// Characters that the service refuses in a statement, or that would break its lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A text as SQL writes it, on one line. */
export function literal(text: string): string {
  const quoted = text.replaceAll("\\", "\\\\").replaceAll("'", "''");
  return `'${quoted.replace(CONTROLS, (char) => SHORT[char] ?? bytesOf(char))}'`;
}

/** A character as the escapes of its bytes in UTF-8. */
function bytesOf(char: string): string {
  return [...new TextEncoder().encode(char)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

/** The condition that a column has one of the values; none without values. */
export function among(column: string, values: readonly string[]): string[] {
  return values.length ? [`${column} IN (${values.map(literal).join(", ")})`] : [];
}

/** The conditions that a moment lies between two, of which the second is exclusive. */
export function within(column: string, from: unknown, to: unknown): string[] {
  return [...(from ? [`${column} >= ${literal(`${from}`)}`] : []), ...(to ? [`${column} < ${literal(`${to}`)}`] : [])];
}

/** Conditions as a clause, "" without any. */
export function where(conditions: readonly string[]): string {
  return conditions.length ? `\nWHERE ${conditions.join("\n  AND ")}` : "";
}
