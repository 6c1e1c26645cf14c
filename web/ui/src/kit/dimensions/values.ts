// The values of dimensions that fields offer, with the number of their sessions.
import { request } from "../../api/request";
import type { Choice } from "../form/choices";
import { compact } from "../text/formats";
import { attributeParam } from "../url";

const MOST_VALUES = 100;
/** The value of a filter that takes every one, and how a filter writes a value of this name. */
const ANY = "*";
const STAR = "\\*";

/** The values of a dimension that hold the text, those of most sessions first. */
export async function readValues(field: string, text: string): Promise<Choice[]> {
  const query = { field, q: text.trim(), limit: MOST_VALUES };
  const { values } = await request("GET /dimensions/values", { query });
  return values.map(({ value, sessions }) => ({ value, note: compact(sessions) }));
}

/** The keys of attributes, those of most sessions first. */
export async function readAttributeKeys(): Promise<Choice[]> {
  const { attributes } = await request("GET /dimensions", {});
  return attributes.map(({ key, sessions }) => ({ value: key, note: compact(sessions) }));
}

/** The dimensions that can be missing: these, and all attributes. */
export async function readMissable(names: readonly string[]): Promise<Choice[]> {
  const keys = await readAttributeKeys();
  const values = [...names, ...keys.map(({ value }) => attributeParam(value))];
  return values.map((value) => ({ value, label: missingWords(value) }));
}

const WORDS: Readonly<Record<string, string>> = { user_id: "user", agent_version: "version" };

/** "no user", "no tag", "no attribute plan" */
export function missingWords(name: string): string {
  const prefix = attributeParam("");
  if (name.startsWith(prefix)) return `no attribute ${name.slice(prefix.length)}`;
  return `no ${WORDS[name] ?? name}`;
}

/** The values of an attribute, as its filter takes them. */
export async function readAttributeValues(key: string, text: string): Promise<Choice[]> {
  return attributeChoices(await readValues(attributeParam(key), text));
}

export function attributeChoices(values: readonly Choice[]): Choice[] {
  const any = { value: ANY, label: attributeWords(ANY) };
  return [any, ...values.map((one) => ({ ...one, value: attributeValue(one.value), label: one.value }))];
}

/** The value of the filter of an attribute that takes just this one. */
export function attributeValue(value: string): string {
  return value === ANY ? STAR : value;
}

/** A value of such a filter in words. */
export function attributeWords(value: string): string {
  return value === ANY ? "any value" : value === STAR ? ANY : value;
}
