import type { DeletionBody, DeletionCounts, DeletionPreview, DeletionRow } from "../api/types";
import { exact, plural } from "../kit/text/formats";

/** The fields of the form. `of` is what the other fields name. */
export interface Wanted {
  of: "sessions" | "user" | "person";
  ids: string;
  user: string;
  field: string;
  equals: string;
}

/** The request of the form. Ids stand one a line. */
export function bodyOf({ of, ids, user, field, equals }: Wanted): DeletionBody {
  if (of === "user") return { user_id: user };
  if (of === "person") return { field: field.trim(), equals };
  return {
    session_ids: ids
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  };
}

/** What a deletion is of; it keeps neither ids nor the value. */
export function targetText({ field, value_hash }: DeletionRow): string {
  if (field !== null) return `a person, by ${field}`;
  return value_hash === null ? "sessions by id" : "a user";
}

/** The meaning of each state, for the tooltip. */
export const STATES: Readonly<Record<DeletionRow["state"], string>> = {
  queued: "A worker will begin soon.",
  running: "Rows are being removed.",
  hidden: "Nothing can be read any more. The files are written again next.",
  rewritten: "The files are written again. The replaced ones go in some minutes.",
  done: "Nothing is left, also in files.",
  failed: "It ended with an error.",
};

/** Whether the page should ask again soon. */
export function isUnderWay({ state }: DeletionRow): boolean {
  return state === "queued" || state === "running";
}

/** What was or would be removed: "6,120 events, 12 agent_sessions". */
export function countsText({ clickhouse, postgres, redis }: DeletionCounts): string {
  return list({ ...clickhouse, ...postgres, ...redis }) || "nothing";
}

/** The question before a deletion. */
export function questionOf({ sessions, removed, remaining }: DeletionPreview): {
  title: string;
  verb: string;
  text: string;
} {
  const stays = list(remaining);
  return {
    title: `Delete ${plural(sessions, "session")}?`,
    verb: "Delete",
    text: `This removes ${countsText(removed)}, for good.${stays && ` People's own ${stays} mention them and stay.`}`,
  };
}

function list(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return named.map(([name, count]) => `${exact(count)} ${name.replaceAll("_", " ")}`).join(", ");
}
