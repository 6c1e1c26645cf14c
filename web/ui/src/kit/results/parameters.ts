// The parameters of a statement: `$1`, `$2`, … and the values that people type for them. Pure functions.

// Texts, quoted names and comments may hold a `$1` that is no parameter.
const TOKEN = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)/g;

/** The numbers of a statement's parameters, ascending. */
export function parametersOf(sql: string): number[] {
  const found = [...sql.matchAll(TOKEN)].map(([, digits]) => Number(digits ?? 0));
  return [...new Set(found)].filter((number) => number > 0 && number < 1000).sort((a, b) => a - b);
}

/**
 * Turns a typed text into a value: numbers, true, false, null and arrays as JSON writes them, all
 * else into a text. A text in double quotes is a text also where it reads like a number.
 */
export function parameterOf(typed: string): unknown {
  const text = typed.trim();
  if (!/^(?:-?\d|["[]|true$|false$|null$)/.test(text)) return typed;
  try {
    const value = JSON.parse(text) as unknown;
    // Numbers that lose digits stay texts.
    return typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) ? typed : value;
  } catch {
    return typed;
  }
}

/** "$1 and $3 are empty.", for a result without rows; "" where each parameter has a value. */
export function emptyNote(sql: string, typed: Readonly<Record<number, string>>): string {
  const empty = parametersOf(sql)
    .filter((number) => !typed[number]?.trim())
    .map((number) => `$${number}`);
  return empty.length ? `${empty.join(" and ")} ${empty.length > 1 ? "are" : "is"} empty.` : "";
}

/** The values of `$1` to the last parameter that the statement has. */
export function valuesFor(sql: string, typed: Readonly<Record<number, string>>): unknown[] {
  const most = Math.max(0, ...parametersOf(sql));
  return Array.from({ length: most }, (_, index) => parameterOf(typed[index + 1] ?? ""));
}
