import { duration } from "../../../kit/text/formats";
import { familyOf, isClose } from "../model/families";
import type { Session } from "../model/session";

/** " · longest of 5 here 650 ms": how the call compares with others of its name; empty where there are none. */
export function longestOfName({ outline, pairs, codes }: Session, event: number): string {
  const name = outline.name[event]!;
  if (name < 0 || pairs.partner[event] === -1) return "";
  let count = 0;
  let longest = 0;
  for (let i = 0; i < outline.length; i++) {
    if (outline.name[i] !== name || !isClose(codes[i]!) || familyOf(codes[i]!) !== familyOf(codes[event]!)) continue;
    if (pairs.partner[i] === -1) continue;
    count++;
    longest = Math.max(longest, pairs.latencyMs[i]!);
  }
  if (count < 2) return "";
  return longest === pairs.latencyMs[event]
    ? ` · the longest of ${count} here`
    : ` · longest of ${count} here ${duration(longest)}`;
}
