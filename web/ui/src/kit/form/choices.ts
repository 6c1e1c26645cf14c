// The choices of a combobox, and what Enter takes of them. Pure.

export interface Choice {
  value: string;
  /** The text in the list. Default: the value. */
  label?: string | undefined;
  /** Stands at the right, dim: a count, a type. */
  note?: string | undefined;
}

export type Choices = readonly (string | Choice)[];

export function normal(choices: Choices): Choice[] {
  return choices.map((choice) => (typeof choice === "string" ? { value: choice } : choice));
}

export function nameOf(choice: Choice): string {
  return choice.label ?? choice.value;
}

function needleOf(text: string): string {
  return text.trim().toLowerCase();
}

/** The choices whose names hold the text. */
export function fitting(choices: readonly Choice[], text: string): Choice[] {
  return choices.filter((choice) => nameOf(choice).toLowerCase().includes(needleOf(text)));
}

/** The choice of exactly this name. */
function named(choices: readonly Choice[], text: string): Choice | undefined {
  return choices.find((choice) => nameOf(choice).toLowerCase() === needleOf(text));
}

/**
 * The value that Enter takes: the choice of that name, or the only one that fits. Where none fits, `typed` says whether
 * it is the text itself. null: none of these, and the person has to choose.
 */
export function takenByEnter(choices: readonly Choice[], text: string, typed: boolean): string | null {
  if (!text.trim()) return null;
  const fit = fitting(choices, text);
  const choice = named(fit, text) ?? (fit.length === 1 ? fit[0] : undefined);
  if (choice) return choice.value;
  return typed && !fit.length ? text.trim() : null;
}

/** What the list says below the choices about the text, null for nothing. */
export function noteOf(choices: readonly Choice[], text: string, typed: boolean): string | null {
  if (!text.trim() || named(choices, text)) return null;
  const fits = fitting(choices, text).length > 0;
  if (!typed) return fits ? null : "Nothing fits";
  return `${fits ? "Shift+Enter" : "Enter"} uses “${text.trim()}”`;
}
