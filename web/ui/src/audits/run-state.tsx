import type { AuditRunRow } from "../api/types";
import { Pill } from "../kit/text/values";

const KINDS = { running: "info", succeeded: "ok", failed: "err" } as const;

/** The state of a run; its error is the title. */
export function RunState({ status, error }: { status: AuditRunRow["status"] | null; error: string | null }) {
  if (!status) return <span class="dim">never</span>;
  return (
    <span title={error ?? ""}>
      <Pill kind={KINDS[status]}>{status}</Pill>
    </span>
  );
}
