/**
 * The value of a name that others have chosen. A name that every object knows, such as "constructor", is not there by
 * itself.
 */
export function own<T>(record: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}
