/** Cuts the text of one member out of a JSON object, byte for byte as it was sent. */

const SPACE = /\s/;

/** Returns the text of the member's value, or null if the object has no such member. */
export function memberText(json: string, member: string): string | null {
  let at = skipSpace(json, 0);
  if (json[at] !== "{") return null;
  at = skipSpace(json, at + 1);
  while (at < json.length && json[at] === '"') {
    const keyEnd = endOfString(json, at);
    const key: unknown = JSON.parse(json.slice(at, keyEnd));
    const from = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const to = endOfValue(json, from);
    if (key === member) return json.slice(from, to);
    at = skipSpace(json, to);
    if (json[at] !== ",") return null;
    at = skipSpace(json, at + 1);
  }
  return null;
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (at < json.length && SPACE.test(json[at]!)) at++;
  return at;
}

function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfValue(json: string, from: number): number {
  if (json[from] === '"') return endOfString(json, from);
  let depth = 0;
  for (let at = from; at < json.length; ) {
    const sign = json[at]!;
    if (sign === '"') {
      at = endOfString(json, at);
      continue;
    }
    if (sign === "{" || sign === "[") depth++;
    if (sign === "}" || sign === "]") {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    }
    if (depth === 0 && (sign === "," || SPACE.test(sign))) return at;
    at++;
  }
  return json.length;
}
