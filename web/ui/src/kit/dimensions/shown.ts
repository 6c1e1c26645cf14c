// Which columns a list has. Pure functions.
import { attributeParam, joinValues, splitValues } from "../url";

const NONE = "none";
const LABELS: Readonly<Record<string, string>> = { cost: "Cost", user: "User", version: "Version", tags: "Tags" };

/** The keys in a text of the URL; those that are no columns are left out. */
export function shownKeys(text: string | null, standard: readonly string[]): string[] {
  if (text === null) return [...standard];
  return splitValues(text).filter((key) => Object.hasOwn(LABELS, key) || key.startsWith(attributeParam("")));
}

/** The text of these keys in the URL, null for the standard ones. */
export function columnsText(keys: readonly string[], standard: readonly string[]): string | null {
  const isStandard = keys.length === standard.length && keys.every((key) => standard.includes(key));
  return isStandard ? null : joinValues(keys) || NONE;
}

/** "User", "Attribute: plan" */
export function columnLabel(key: string): string {
  return LABELS[key] ?? `Attribute: ${key.slice(attributeParam("").length)}`;
}

/** The keys of the columns of these rows' attributes. */
export function attributeColumns(rows: readonly { attributes: object }[]): string[] {
  return [...new Set(rows.flatMap(({ attributes }) => Object.keys(attributes)))].sort().map(attributeParam);
}
