import { Pill } from "../text/values";

const KINDS = { critical: "err", warning: "warn", info: "info" } as const;

/** The severity of an alert, an incident or a finding. */
export function Severity({ value }: { value: keyof typeof KINDS }) {
  return <Pill kind={KINDS[value]}>{value}</Pill>;
}
