/** Which types of events open and close calls. */
import { FAMILIES } from "../../../api/families";

type Noun = (typeof FAMILIES)[number]["noun"];

export const NO_FAMILY = 0;

/** Families of pairs; a code is twice this number, plus one for the closing event. */
export const FAMILY = Object.fromEntries(FAMILIES.map(({ noun }, index) => [noun, index + 1])) as Record<Noun, number>;

const CODES: Record<string, number> = Object.fromEntries(
  FAMILIES.flatMap(({ noun, start, end }) => [
    [start, FAMILY[noun] * 2],
    [end, FAMILY[noun] * 2 + 1],
  ]),
);

/** The code of an event type: NO_FAMILY, or twice the family plus one for a closing event. */
export function familyCode(type: string): number {
  return Object.hasOwn(CODES, type) ? CODES[type]! : NO_FAMILY;
}

export function familyOf(code: number): number {
  return code >> 1;
}

export function isClose(code: number): boolean {
  return (code & 1) === 1;
}

/** Whether such an event belongs to a step of the agent's work: a call that has a name. */
export function isWork(code: number): boolean {
  return !!FAMILIES[familyOf(code) - 1]?.name;
}

/** The column of the name of such events; null for types without names. */
export function nameColumn(type: string): string | null {
  return type === "error" ? "error_type" : (FAMILIES[familyOf(familyCode(type)) - 1]?.name ?? null);
}
