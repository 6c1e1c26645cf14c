// The columns that a person can add to the waterfall.
import { computed } from "@preact/signals";
import { param, setQuery } from "../../../kit/router";
import { compact, percent } from "../../../kit/text/formats";
import { money, moneyWords } from "../../../kit/text/money";
import { splitValues } from "../../../kit/url";
import { clock } from "../model/axis";
import { rowSum, rowText } from "../model/row-text";
import { msOf, type Session } from "../model/session";

export interface Column {
  key: string;
  title: string;
  text: (session: Session, row: number) => string;
  /** The exact value, as title. */
  exact?: (session: Session, row: number) => string | undefined;
}

export const COLUMNS: readonly Column[] = [
  { key: "start", title: "Start", text: (session, row) => clock(msOf(session, mainEvent(session, row)), 1) },
  {
    key: "tokens",
    title: "Tokens",
    text: (session, row) => {
      const { inputTokens, outputTokens } = rowText(session, row);
      return inputTokens === null && outputTokens === null ? "" : compact((inputTokens ?? 0) + (outputTokens ?? 0));
    },
  },
  {
    key: "context",
    title: "Context",
    text: ({ outline, rows }, row) => {
      const end = rows.end[row]! >= 0 ? rows.end[row]! : rows.start[row]!;
      const fill = end >= 0 ? outline.contextFill[end]! : NaN;
      return Number.isNaN(fill) ? "" : percent(fill);
    },
  },
  {
    key: "cost",
    title: "Cost",
    text: (session, row) => {
      const cost = rowSum(session, row, "costUsd");
      return cost === null ? "" : money(cost);
    },
    exact: (session, row) => moneyWords(rowSum(session, row, "costUsd")).title,
  },
];

/** The event that stands for a row: the start, else the end, else the first one inside. */
export function mainEvent({ rows }: Session, row: number): number {
  for (let at = row; at < rows.length; at++) {
    if (rows.start[at]! >= 0) return rows.start[at]!;
    if (rows.end[at]! >= 0) return rows.end[at]!;
  }
  return 0;
}

const chosenKeys = computed(() => param("columns") ?? "");
const chosen = computed(() => {
  const keys = splitValues(chosenKeys.value);
  return COLUMNS.filter(({ key }) => keys.includes(key));
});

export function chosenColumns(): Column[] {
  return chosen.value;
}

export function toggleColumn(key: string): void {
  const keys = chosenColumns().map((column) => column.key);
  setQuery({ columns: keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key] });
}
