// The groups of alerts in words. Pure.

/** "user zoe", "version none"; "" without a group. */
export function groupText(group: Record<string, string | null> | null): string {
  return Object.entries(group ?? {})
    .map(([field, value]) => `${field.replace(/^attr\.|^agent_(?=version)|_id$/g, "")} ${value ?? "none"}`)
    .join(", ");
}
