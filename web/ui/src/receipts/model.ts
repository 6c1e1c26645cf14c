import type { OtelService, Receipt, SkippedRow } from "../api/types";
import { exact, plural } from "../kit/text/formats";

/** The ways in, by their names in the API. */
export const WAYS: Readonly<Record<Receipt["source"], string>> = {
  events: "Events",
  import: "Import",
  otlp_http: "OpenTelemetry, HTTP",
  otlp_grpc: "OpenTelemetry, gRPC",
};

export function senderId(row: Receipt): string {
  return JSON.stringify([row.source, row.key_id, row.sender, row.machine_id, row.service]);
}

/** Skipped lines have no id: the list is appended to, so the position from its start is stable. */
export function skippedId(row: SkippedRow): string {
  return JSON.stringify([row.at, row.source, row.sender, row.where, row.reason]);
}

/** What did not become events, in words; empty where all did. */
export function lossOf(row: Receipt): string {
  const parts: [number, string][] = [
    [row.skipped, "skipped"],
    [row.dead_lettered, "could not be stored"],
    [row.refused, `${row.refused === 1 ? "request" : "requests"} refused`],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(", ");
}

/** The faults of accepted events, in words; empty where there are none. */
export function warnedOf({ warnings }: Receipt): string {
  return warnings ? plural(warnings, "warning") : "";
}

/** The attributes that no rule names, most frequent first. */
export function unmappedText({ unmapped }: OtelService): string {
  return unmapped.map(({ attribute, count }) => `${attribute} (${exact(count)})`).join(", ");
}
